// SPDX-License-Identifier: GPL-2.0
#include "mlx5.h"

#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define CLASS_INFINIBAND (0x0207 << 8)
#define FW_MAJOR         16 /* as a ConnectX-5 */
#define FW_MINOR         35
#define FW_SUBMINOR      3006
#define QUEUE_SIZE       0x56 /* of commands: log2 of their number, and of their bytes */
#define QUEUE_BITS       0xff
#define INTERFACE_BITS   0x700
#define BEAT             (HZ / 2)
#define MAX_BYTES        (1 << 20) /* of a command */
#define LOST                                                                                       \
	msecs_to_jiffies(                                                                          \
		250) /* after that a doorbell that did not come was overwritten by the next one */
#define GIVEN_UP (55 * HZ) /* less than what the driver waits for an answer */

/* --- parameters --- */

bool cx_trace;
module_param_named(trace, cx_trace, bool, 0644);
MODULE_PARM_DESC(trace, "log each command");

static unsigned int vfs = 8;
module_param(vfs, uint, 0644);
MODULE_PARM_DESC(
	vfs, "how many virtual functions each port of a card that is plugged supports, at most 16");

static unsigned int ports = 1;
module_param(ports, uint, 0644);
MODULE_PARM_DESC(ports, "how many ports a card that is plugged has, 1 or 2: each is a PF");

static unsigned int drop;
module_param(drop, uint, 0644);
MODULE_PARM_DESC(drop, "each doorbell of commands with this number is not seen; 0: all are");

static bool infiniband;
module_param(infiniband, bool, 0644);
MODULE_PARM_DESC(infiniband, "a card that is plugged is InfiniBand");

/* Each is a list of starts of PCI addresses, "0001:00:00.0,0001:10" for a function and for a card;
 * empty for none. */
#define FAULT(name, words)                                                                         \
	static char name[64];                                                                      \
	module_param_string(name, name, sizeof(name), 0644);                                       \
	MODULE_PARM_DESC(name, words)

FAULT(no_link, "the function whose port has no link");
FAULT(no_cable, "the function whose port has no link for want of a cable");
FAULT(no_sm, "the function whose port of InfiniBand no subnet manager has made active");
FAULT(refuse, "the virtual function that the firmware does not enable");
FAULT(initializing, "the function whose firmware does not get ready");
FAULT(frozen, "the function whose firmware stands still: no health counter, no answer");
FAULT(syndrome, "the function whose firmware reports a health syndrome");
FAULT(fatal, "the function whose firmware reports one that asks for a reset");
FAULT(dcbx, "the function whose firmware sets priorities; read when its driver is bound");
FAULT(hang_at, "the function whose firmware does not answer commands of the opcode in hang");
FAULT(fail_at, "the function whose firmware fails commands of the opcode in fail");

FAULT(no_manager, "the function that may not manage virtual ports, as on a card in DPU mode");

static unsigned int hang, fail, fail_status = MLX5_CMD_STAT_BAD_PARAM_ERR;
module_param(hang, uint, 0644);
module_param(fail, uint, 0644);
module_param(fail_status, uint, 0644);
MODULE_PARM_DESC(hang, "opcode");
MODULE_PARM_DESC(fail, "opcode: fail_status, syndrome 0xbad");
MODULE_PARM_DESC(fail_status, "3: bad parameter, 6: busy");

bool cx_is_fault(const char *parameter, const struct cx_function *fn)
{
	size_t n;

	for (const char *at = parameter; *at; at += n + (at[n] != '\0')) {
		n = strcspn(at, ",\n");
		if (n && !strncmp(at, fn->f->name, n))
			return true;
	}
	return false;
}

bool cx_is_manager(const struct cx_function *fn)
{
	return is_pf(fn) && !cx_is_fault(no_manager, fn);
}

bool cx_has_dcbx(const struct cx_function *fn)
{
	return cx_is_fault(dcbx, fn);
}

bool cx_is_refused(const struct cx_function *vf)
{
	return cx_is_fault(refuse, vf);
}

/* --- the initialization segment --- */

bool cx_has_cable(const struct cx_function *fn)
{
	return !cx_is_fault(no_cable, cx_vport(fn, 0));
}

bool cx_is_up(const struct cx_function *fn)
{
	const struct cx_function *pf = cx_vport(fn, 0);

	if (cx_is_fault(no_link, fn))
		return false;
	if (is_pf(fn) || fn->link_policy == MLX5_VPORT_ADMIN_STATE_AUTO)
		return pf->is_port_on && !cx_is_fault(no_link, pf) && cx_has_cable(pf);
	return fn->link_policy == MLX5_VPORT_ADMIN_STATE_UP;
}

enum ib_port_state cx_port_state(const struct cx_function *fn)
{
	if (!cx_is_up(fn))
		return IB_PORT_DOWN;
	if (fn->is_infiniband && (cx_is_fault(no_sm, fn) || cx_is_fault(no_sm, cx_vport(fn, 0))))
		return IB_PORT_INIT;
	return IB_PORT_ACTIVE;
}

static void start_firmware(struct cx_function *fn)
{
	struct mlx5_init_seg *s = fn->iseg;

	memset(s, 0, sizeof(*s));
	s->fw_rev = cpu_to_be32(FW_MINOR << 16 | FW_MAJOR);
	s->cmdif_rev_fw_sub = cpu_to_be32(5 << 16 | FW_SUBMINOR);
	s->cmdq_addr_l_sz = cpu_to_be32(QUEUE_SIZE);
	s->health.fw_ver = s->fw_rev;
	s->health_counter = cpu_to_be32(1);
}

static void show_health(struct cx_function *fn)
{
	struct mlx5_init_seg *s = fn->iseg;

	WRITE_ONCE(s->initializing, cpu_to_be32(cx_is_fault(initializing, fn) ? 1u << 31 : 0));
	s->health.rfr_severity = fn->is_crashed ? 1 << MLX5_RFR_BIT_OFFSET : 0;
	WRITE_ONCE(s->health.synd,
		   fn->is_crashed || cx_is_fault(syndrome, fn) ? 1 : 0); /* 1: firmware assertion */
	if (time_before(jiffies, fn->beat + BEAT))
		return;
	fn->beat = jiffies;
	be32_add_cpu(&s->health_counter, 1);
}

static void tell_link(struct cx_function *fn)
{
	static const u8 types[] = {
		[IB_PORT_DOWN] = MLX5_PORT_CHANGE_SUBTYPE_DOWN,
		[IB_PORT_INIT] = MLX5_PORT_CHANGE_SUBTYPE_INITIALIZED,
		[IB_PORT_ACTIVE] = MLX5_PORT_CHANGE_SUBTYPE_ACTIVE,
	};
	union ev_data data = { .port = { .port = 0x10 } };
	enum ib_port_state state = cx_port_state(fn);

	if (state == fn->told || !cx_has_events(fn, MLX5_EVENT_TYPE_PORT_CHANGE))
		return;
	fn->told = state;
	cx_post(fn, MLX5_EVENT_TYPE_PORT_CHANGE, types[state], &data);
}

/* --- the command queue --- */

/* What does not fit into an entry is in a chain of blocks. Returns false when one cannot be
 * reached. */
static bool copy_blocks(struct cx_function *fn, __be64 first, u8 *data, u32 bytes, bool is_input)
{
	u64 at = be64_to_cpu(first);

	for (u32 done = 0, n; done < bytes; done += n) {
		struct mlx5_cmd_prot_block *block = soft_dma(fn->f, at, sizeof(*block));

		if (!block)
			return false;
		n = min_t(u32, bytes - done, sizeof(block->data));
		if (is_input)
			memcpy(data + done, block->data, n);
		else
			memcpy(block->data, data + done, n);
		at = be64_to_cpu(block->next);
	}
	return true;
}

/* The driver frees the memory of what it destroys also when that fails, or is never answered. */
static void forget(struct cx_function *fn, const struct mlx5_cmd_layout *entry)
{
	u8 out[16] = {};
	struct cx_command c = { .fn = fn,
				.opcode = be32_to_cpu(entry->in[0]) >> 16,
				.in = (u8 *)entry->in, /* a number, in the first bytes */
				.out = out };

	switch (c.opcode) {
	case MLX5_CMD_OP_DESTROY_EQ:
	case MLX5_CMD_OP_DESTROY_CQ:
	case MLX5_CMD_OP_DESTROY_QP:
	case MLX5_CMD_OP_DESTROY_SQ:
		cx_run(&c);
		break;
	case MLX5_CMD_OP_DISABLE_HCA:
		if (MLX5_GET(disable_hca_in, c.in, function_id) == 0)
			fn->commands = 0;
		break;
	}
}

static u8 answer(struct cx_command *c)
{
	struct cx_function *fn = c->fn;
	u8 status;

	if (fn->is_crashed)
		return MLX5_CMD_STAT_INT_ERR;
	if (fail == c->opcode && cx_is_fault(fail_at, fn)) {
		*(__be32 *)(c->out + 4) = cpu_to_be32(0xbad);
		return fail_status;
	}
	status = cx_run(c);
	if (status)
		pr_info("soft_mlx5: %s: opcode %#x mod %#x is answered with status %#x\n",
			fn->f->name, c->opcode, c->mod, status);
	return status;
}

/* Runs an entry; false when there is no answer. */
static bool run_entry(struct cx_function *fn, struct mlx5_cmd_layout *entry)
{
	u32 in_bytes = be32_to_cpu(entry->inlen), out_bytes = be32_to_cpu(entry->outlen);
	struct cx_command c = { .fn = fn, .in_bytes = in_bytes, .out_bytes = out_bytes };
	bool is_done = false;

	if (in_bytes < 16 || in_bytes > MAX_BYTES || out_bytes < 8 || out_bytes > MAX_BYTES)
		return false;
	/* Handlers may look at and write a whole structure, whatever the driver asked for. */
	c.in = kvzalloc(in_bytes + 8192, GFP_KERNEL);
	c.out = kvzalloc(out_bytes + 8192, GFP_KERNEL);
	if (!c.in || !c.out)
		goto out;
	memcpy(c.in, entry->in, 16);
	if (!copy_blocks(fn, entry->in_ptr, c.in + 16, in_bytes - 16, true))
		goto out;
	c.opcode = c.in[0] << 8 | c.in[1];
	c.mod = c.in[6] << 8 | c.in[7];
	if (cx_trace)
		pr_info("soft_mlx5: %s: opcode %#x mod %#x %*phN\n", fn->f->name, c.opcode, c.mod,
			8, c.in + 8);
	if (hang == c.opcode && cx_is_fault(hang_at, fn)) {
		pr_info("soft_mlx5: %s: opcode %#x is not answered\n", fn->f->name, c.opcode);
		forget(fn, entry);
		goto out;
	}
	c.out[0] = answer(&c);
	memcpy(entry->out, c.out, min_t(u32, out_bytes, 16));
	if (out_bytes > 16 && !copy_blocks(fn, entry->out_ptr, c.out + 16, out_bytes - 16, false))
		goto out;
	if (c.out[0] || c.opcode == MLX5_CMD_OP_DISABLE_HCA)
		forget(fn, entry);
	is_done = true;
out:
	kvfree(c.in);
	kvfree(c.out);
	return is_done;
}

static void serve_entry(struct cx_function *fn, struct mlx5_cmd_layout *entry, unsigned int i)
{
	union ev_data data = { .cmd = { .vector = cpu_to_be32(1u << i) } };
	/* The command that makes the event queue is still waited for by looking. */
	bool has_events = cx_has_events(fn, MLX5_EVENT_TYPE_CMD);

	fn->seen[i] = 0;
	if (!run_entry(fn, entry)) {
		fn->is_hung[i] = true;
		return;
	}
	wmb(); /* the answer, before the driver owns the entry again */
	WRITE_ONCE(entry->status_own, 0);
	if (has_events && cx_has_events(fn, MLX5_EVENT_TYPE_CMD))
		cx_post(fn, MLX5_EVENT_TYPE_CMD, 0, &data);
}

/* Whether the driver has written an address: it does with zeros where the size of the queue was. At
 * the end of a fast teardown it writes the same one, and that the interface is disabled, which it
 * reads back. */
static void look_for_queue(struct cx_function *fn)
{
	u32 low = be32_to_cpu(READ_ONCE(fn->iseg->cmdq_addr_l_sz));

	if (low & QUEUE_BITS)
		return;
	cx_free_queues(fn);
	memset(fn->seen, 0, sizeof(fn->seen));
	memset(fn->is_hung, 0, sizeof(fn->is_hung));
	fn->commands = (u64)be32_to_cpu(fn->iseg->cmdq_addr_h) << 32 | (low & PAGE_MASK);
	if ((low & INTERFACE_BITS) == MLX5_INITIAL_SEG_NIC_INTERFACE_DISABLED
					      << MLX5_NIC_IFC_OFFSET)
		fn->commands = 0;
	WRITE_ONCE(fn->iseg->cmdq_addr_l_sz, cpu_to_be32(low | QUEUE_SIZE));
}

/*
 * A firmware that stands still takes no command. Those that the driver has given up meanwhile,
 * after a minute, are never answered: it has freed their memory.
 */
static void serve_nothing(struct cx_function *fn)
{
	const struct mlx5_cmd_layout *queue = soft_dma(fn->f, fn->commands, PAGE_SIZE);

	for (unsigned int i = 0; queue && i < N_COMMANDS; i++) {
		if (!(READ_ONCE(queue[i].status_own) & 1)) {
			fn->seen[i] = 0;
			fn->is_hung[i] = false;
			continue;
		}
		fn->seen[i] = fn->seen[i] ?: jiffies;
		if (fn->is_hung[i] || !time_after(jiffies, fn->seen[i] + GIVEN_UP))
			continue;
		fn->is_hung[i] = true;
		forget(fn, &queue[i]);
	}
}

/*
 * The doorbell is a word of memory, with a bit for each entry: when two are rung one after the
 * other the first is overwritten. One worker of the driver fills and rings them in turn, so that a
 * ring says that all entries were rung that had been seen before. One that no ring follows is taken
 * after a while, and none before the driver had the time to ring.
 */
static bool serve_commands(struct cx_function *fn)
{
	struct mlx5_cmd_layout *queue = soft_dma(fn->f, fn->commands, PAGE_SIZE);
	u32 rung = be32_to_cpu(xchg(&fn->iseg->cmd_dbell, 0));
	bool was_busy = rung;
	u32 ready = 0;

	if (!queue)
		return false;
	if (rung && drop && ++fn->n_rings % drop == 0)
		rung = 0;
	for (unsigned int i = 0; i < N_COMMANDS; i++) {
		if (!(READ_ONCE(queue[i].status_own) & 1)) {
			fn->seen[i] = 0;
			fn->is_hung[i] = false;
		} else if (fn->is_hung[i]) {
			continue;
		} else if (rung & BIT(i) ||
			   (fn->seen[i] && (rung || time_after(jiffies, fn->seen[i] + LOST)))) {
			ready |= BIT(i);
		} else {
			fn->seen[i] = fn->seen[i] ?: jiffies;
			was_busy = true;
		}
	}
	rmb(); /* the entries, after their owner */
	for (unsigned int i = 0; i < N_COMMANDS && fn->commands; i++)
		if (ready & BIT(i))
			serve_entry(fn, &queue[i], i);
	return was_busy;
}

/* --- the card --- */

static void drop_queues(struct cx_function *fn)
{
	if (fn->commands)
		cx_free_queues(fn);
	fn->commands = 0;
}

/* The driver that sees such a syndrome frees all queues without a command, those of commands as
 * well: nothing may be written when it is shown. */
static void crash(struct cx_function *fn)
{
	bool was_crashed = fn->is_crashed;

	fn->is_crashed = cx_is_fault(fatal, fn);
	if (fn->is_crashed && !was_crashed)
		drop_queues(fn);
}

static bool serve(struct soft_function *f)
{
	struct cx_function *fn = f->data;

	crash(fn);
	if (!soft_is_master(f)) { /* no driver, or one that let go */
		drop_queues(fn);
		show_health(fn);
		return false;
	}
	if (cx_is_fault(frozen, fn)) {
		serve_nothing(fn);
		return false;
	}
	show_health(fn);
	look_for_queue(fn);
	if (!fn->commands)
		return false;
	tell_link(fn);
	return serve_commands(fn) | cx_serve_queues(fn);
}

static u64 guid_of(const u8 *mac)
{
	u64 m = ether_addr_to_u64(mac);

	return (m >> 24) << 40 | 0xfffeull << 24 | (m & 0xffffff);
}

static int plug(struct soft_function *f)
{
	struct cx_function *fn = kzalloc(sizeof(*fn), GFP_KERNEL);
	u8 mac[ETH_ALEN] = { 0x52, 0x54, 0x00, 0x15, f->card->slot, soft_devfn(f) };

	if (!fn)
		return -ENOMEM;
	fn->f = f;
	fn->iseg = f->bar;
	fn->is_infiniband = f->card->model->class == CLASS_INFINIBAND;
	fn->n_handles = 0x10;
	/* What the firmware has for VFs of InfiniBand: they have no link until the PF gives it. */
	fn->link_policy = fn->is_infiniband && f->number ? MLX5_VPORT_ADMIN_STATE_DOWN
							 : MLX5_VPORT_ADMIN_STATE_AUTO;
	fn->port_mtu = 1522;
	fn->is_port_on = true;
	fn->told = IB_PORT_DOWN;
	cx_init_priorities(fn);
	xa_init(&fn->queues);
	if (f->number == 0)
		ether_addr_copy(fn->mac, mac); /* VFs have none until the PF gives it */
	if (f->number == 0 || fn->is_infiniband)
		fn->node_guid = fn->port_guid = guid_of(mac);
	start_firmware(fn);
	f->data = fn;
	return 0;
}

static void unplug(struct soft_function *f)
{
	struct cx_function *fn = f->data;

	cx_free_queues(fn);
	xa_destroy(&fn->queues);
	kfree(fn);
}

static const struct soft_model models[] = {
	{ .name = "ConnectX-5",
	  .vendor = PCI_VENDOR_ID_MELLANOX,
	  .pf_device = 0x1017,
	  .vf_device = 0x1018,
	  .class = PCI_CLASS_NETWORK_ETHERNET << 8,
	  .pf_bar = 8 << 20,
	  .vf_bar = 1 << 20,
	  .plug = plug,
	  .unplug = unplug,
	  .serve = serve },
	{ .name = "ConnectX-5 VPI",
	  .vendor = PCI_VENDOR_ID_MELLANOX,
	  .pf_device = 0x1017,
	  .vf_device = 0x1018,
	  .class = CLASS_INFINIBAND,
	  .pf_bar = 8 << 20,
	  .vf_bar = 1 << 20,
	  .plug = plug,
	  .unplug = unplug,
	  .serve = serve },
};

/* --- which slots have a card --- */

static DECLARE_BITMAP(wanted, SOFT_SLOTS);
static const struct soft_model *plugged[SOFT_SLOTS]; /* changed by the work of the slot only */
static struct work_struct works[SOFT_SLOTS];
static bool is_ready; /* for cards: false while the module is loaded or unloaded */

static void on_work(struct work_struct *work)
{
	unsigned int slot = work - works;
	const struct soft_model *model = &models[infiniband];

	if (test_bit(slot, wanted) && !plugged[slot]) {
		plugged[slot] = model; /* drivers probe inside */
		if (soft_plug(model, slot, ports, min(vfs, SOFT_VFS)) < 0)
			plugged[slot] = NULL;
	} else if (!test_bit(slot, wanted) && plugged[slot]) {
		soft_unplug(plugged[slot], slot);
		plugged[slot] = NULL;
	}
}

static void change_slots(void)
{
	for (unsigned int i = 0; i < SOFT_SLOTS; i++)
		queue_work(system_unbound_wq, &works[i]);
}

static int set_cards(const char *value, const struct kernel_param *param)
{
	int r;

	r = bitmap_parselist(value, wanted, SOFT_SLOTS);
	if (r < 0)
		return r;
	if (is_ready)
		change_slots();
	return 0;
}

static int get_cards(char *buf, const struct kernel_param *param)
{
	DECLARE_BITMAP(there, SOFT_SLOTS) = {};

	for (unsigned int i = 0; i < SOFT_SLOTS; i++)
		if (READ_ONCE(plugged[i]))
			set_bit(i, there);
	return bitmap_print_to_pagebuf(true, buf, there, SOFT_SLOTS);
}

static const struct kernel_param_ops cards_ops = { .set = set_cards, .get = get_cards };
module_param_cb(cards, &cards_ops, NULL, 0644);
MODULE_PARM_DESC(cards, "the slots that have a card, as \"0,2-3\"; a write plugs and unplugs, and "
			"does not wait for drivers");

static int __init soft_mlx5_init(void)
{
	for (unsigned int i = 0; i < SOFT_SLOTS; i++)
		INIT_WORK(&works[i], on_work);
	is_ready = true;
	change_slots();
	for (unsigned int i = 0; i < SOFT_SLOTS; i++)
		flush_work(&works[i]);
	return 0;
}

static void __exit soft_mlx5_exit(void)
{
	is_ready = false;
	bitmap_zero(wanted, SOFT_SLOTS);
	change_slots();
	for (unsigned int i = 0; i < SOFT_SLOTS; i++)
		flush_work(&works[i]);
}

module_init(soft_mlx5_init);
module_exit(soft_mlx5_exit);
MODULE_DESCRIPTION("Model of a ConnectX for mlx5_core");
MODULE_LICENSE("GPL");
