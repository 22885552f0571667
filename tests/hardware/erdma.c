// SPDX-License-Identifier: GPL-2.0
/*
 * A model of an ERI, the PCI function of Alibaba Cloud's eRDMA: what the driver "erdma" asks of it,
 * and no packets. Its ENI is another function, which the driver finds by the MAC in a register.
 *
 * The driver's headers are not among those of the kernel, so the registers and commands are
 * described here. What is little endian is what this is built for.
 */
#include <linux/bitfield.h>
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "bus.h"

#define FW_VERSION 0x00010203
#define MAC        0x525400000221ull /* of slot 0: each slot has the next */

/* Registers in BAR 0 */
#define REG_VERSION     0x00 /* 0: a function that does not work */
#define REG_PROTOCOL    0x0c /* 0: iWARP */
#define REG_CONTROL     0x10
#define REG_STATUS      0x14
#define REG_MAC         0x18 /* 8 bytes, as each address below */
#define REG_COMMANDS    0x20 /* the address of the queue */
#define REG_COMPLETIONS 0x28
#define REG_DEPTH       0x30 /* of both, in blocks */
#define REG_EQ_DEPTH    0x34
#define REG_EVENTS      0x38
#define REG_DOORBELL    0x200 /* how many blocks the driver has written, modulo 2^16 */
#define REG_ARM         0x300 /* of the completion queue */

#define NOT_RUNG      (~0ull)
#define CONTROL_RESET BIT(0)
#define CONTROL_INIT  BIT(1) /* and the same in REG_STATUS when it is done */
#define ARM_EVENT     BIT(31)

/* A command: its header, then what is its own, in blocks of 32 bytes */
#define BLOCK         32
#define COMMAND       128
#define HDR_BLOCKS    GENMASK_ULL(54, 52) /* less one */
#define HDR_MODULE    GENMASK_ULL(25, 24)
#define HDR_OPCODE    GENMASK_ULL(23, 16)
#define CQE_OWNER     BIT(31)
#define CQE_OPCODE    GENMASK(23, 16)
#define CQE_QUEUE     GENMASK(15, 8)
#define CQE_SYNDROME  GENMASK(7, 0)
#define QUEUE_COMMAND 2
#define EVENT         16 /* bytes */
#define EVENT_OWNER   BIT_ULL(31)

/* What QUERY_DEVICE answers: the logarithms of limits, and flags */
#define CAP_GIDS        GENMASK_ULL(51, 48)
#define CAP_CQES        GENMASK_ULL(47, 40)
#define CAP_DOORBELLS   BIT_ULL(27) /* pages of doorbells for each context */
#define CAP_RECEIVES    GENMASK_ULL(23, 16)
#define CAP_AHS         GENMASK_ULL(15, 8)
#define CAP_MR          GENMASK_ULL(7, 0)
#define CAP1_KEY        GENMASK_ULL(63, 32)
#define CAP1_QPS        GENMASK_ULL(27, 16) /* 1,024 each */
#define CAP1_WINDOWS    GENMASK_ULL(7, 0)
#define STATS_MAGIC     0x5566
#define STATS_BYTES     256
#define CONFIG_HAS_PAGE BIT(31)
#define CONFIG_PAGE     GENMASK(4, 0)

/* Pages of doorbells in BAR 0: of sends, of completions and of receives, three for each context */
#define DOORBELLS_PAGE 128
#define MAX_CONTEXTS   40

#define SYNDROME_BAD 1

struct eri {
	struct soft_function *f;
	bool is_on, has_page_size;
	u64 commands, completions, events; /* DMA addresses */
	u32 depth, event_depth;
	u16 n_rung, n_taken;       /* blocks of commands */
	u32 n_completed, n_events; /* since the start */
	DECLARE_BITMAP(eqs, SOFT_VECTORS);
	DECLARE_BITMAP(contexts, MAX_CONTEXTS);
};

struct command {
	const u64 *in;
	u64 out[2];
};

/* --- parameters --- */

static bool trace;
module_param(trace, bool, 0644);
MODULE_PARM_DESC(trace, "log each command");

/* Each is the start of a PCI address; empty for none. */
#define FAULT(name, words)                                                                         \
	static char name[32];                                                                      \
	module_param_string(name, name, sizeof(name), 0644);                                       \
	MODULE_PARM_DESC(name, words)

FAULT(broken, "the function that is plugged next and does not work");
FAULT(initializing, "the function that does not get ready");
FAULT(frozen, "the function that answers no command");

static bool is_fault(const char *parameter, const struct eri *e)
{
	size_t n = strcspn(parameter, "\n");

	return n && !strncmp(parameter, e->f->name, n);
}

/* --- commands: each returns a syndrome, 0 is success --- */

static u8 query_device(struct eri *e, struct command *c)
{
	c->out[0] = FIELD_PREP(CAP_GIDS, 4) | FIELD_PREP(CAP_CQES, 20) | CAP_DOORBELLS |
		    FIELD_PREP(CAP_RECEIVES, 15) | FIELD_PREP(CAP_AHS, 10) | FIELD_PREP(CAP_MR, 40);
	c->out[1] =
		FIELD_PREP(CAP1_KEY, 0x100) | FIELD_PREP(CAP1_QPS, 4) | FIELD_PREP(CAP1_WINDOWS, 8);
	return 0;
}

static u8 query_firmware(struct eri *e, struct command *c)
{
	c->out[0] = FW_VERSION;
	return 0;
}

static u8 query_stats(struct eri *e, struct command *c)
{
	u8 *stats = soft_dma(e->f, c->in[2], STATS_BYTES);

	if (!stats)
		return SYNDROME_BAD;
	memset(stats, 0, STATS_BYTES);
	*(u16 *)stats = STATS_MAGIC;
	return 0;
}

static u8 configure(struct eri *e, struct command *c)
{
	u32 config = c->in[1];

	if (!(config & CONFIG_HAS_PAGE) || FIELD_GET(CONFIG_PAGE, config) != PAGE_SHIFT)
		return SYNDROME_BAD;
	e->has_page_size = true;
	return 0;
}

static u8 create_eq(struct eri *e, struct command *c)
{
	const u8 *in = (const u8 *)&c->in[2]; /* vector, number, depth, type */

	if (in[0] != in[1] || in[1] == 0 || in[1] >= SOFT_VECTORS || !c->in[1])
		return SYNDROME_BAD;
	return __test_and_set_bit(in[1], e->eqs) ? SYNDROME_BAD : 0;
}

static u8 destroy_eq(struct eri *e, struct command *c)
{
	u8 number = ((const u8 *)&c->in[2])[1];

	return number < SOFT_VECTORS && __test_and_clear_bit(number, e->eqs) ? 0 : SYNDROME_BAD;
}

static u8 create_doorbells(struct eri *e, struct command *c)
{
	unsigned int i = find_first_zero_bit(e->contexts, MAX_CONTEXTS);
	u64 page = DOORBELLS_PAGE + 3 * i;

	if (!e->has_page_size || i >= MAX_CONTEXTS)
		return SYNDROME_BAD;
	__set_bit(i, e->contexts);
	c->out[0] = (page + 2) << 48 | (page + 1) << 32 | page;
	return 0;
}

static u8 destroy_doorbells(struct eri *e, struct command *c)
{
	u16 page = ((const u16 *)&c->in[1])[3];
	unsigned int i = (page - DOORBELLS_PAGE) / 3;

	if (page < DOORBELLS_PAGE || i >= MAX_CONTEXTS || !__test_and_clear_bit(i, e->contexts))
		return SYNDROME_BAD;
	return 0;
}

/* Of queues, memory, addresses and the MTU: what follows from them are packets. */
static u8 accept(struct eri *e, struct command *c)
{
	return 0;
}

#define RDMA   0
#define COMMON 1

static const struct {
	u8 module, opcode;
	const char *name;
	u8 (*run)(struct eri *e, struct command *c);
} commands[] = {
	{ RDMA, 0, "QUERY_DEVICE", query_device },
	{ RDMA, 1, "CREATE_QP", accept },
	{ RDMA, 2, "DESTROY_QP", accept },
	{ RDMA, 3, "MODIFY_QP", accept },
	{ RDMA, 4, "CREATE_CQ", accept },
	{ RDMA, 5, "DESTROY_CQ", accept },
	{ RDMA, 6, "REFLUSH", accept },
	{ RDMA, 8, "REG_MR", accept },
	{ RDMA, 9, "DEREG_MR", accept },
	{ RDMA, 14, "SET_GID", accept },
	{ RDMA, 15, "CREATE_AH", accept },
	{ RDMA, 16, "DESTROY_AH", accept },
	{ COMMON, 0, "CREATE_EQ", create_eq },
	{ COMMON, 1, "DESTROY_EQ", destroy_eq },
	{ COMMON, 2, "QUERY_FW_INFO", query_firmware },
	{ COMMON, 3, "CONF_MTU", accept },
	{ COMMON, 4, "GET_STATS", query_stats },
	{ COMMON, 5, "CONF_DEVICE", configure },
	{ COMMON, 8, "ALLOC_DB", create_doorbells },
	{ COMMON, 9, "FREE_DB", destroy_doorbells },
};

static u8 run(struct eri *e, struct command *c)
{
	u8 module = FIELD_GET(HDR_MODULE, c->in[0]), opcode = FIELD_GET(HDR_OPCODE, c->in[0]);
	const char *name = "unknown";
	u8 syndrome = SYNDROME_BAD;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (commands[i].module != module || commands[i].opcode != opcode)
			continue;
		name = commands[i].name;
		syndrome = commands[i].run(e, c);
	}
	if (trace || syndrome)
		pr_info("soft_erdma: %s: command %u/%u, %s, is answered with syndrome %u\n",
			e->f->name, module, opcode, name, syndrome);
	return syndrome;
}

/* --- the command queue --- */

static u32 read_register(const struct eri *e, u32 where)
{
	return READ_ONCE(*(u32 *)(e->f->bar + where));
}

static void write_register(struct eri *e, u32 where, u32 value)
{
	WRITE_ONCE(*(u32 *)(e->f->bar + where), value);
}

static u64 read_address(const struct eri *e, u32 where)
{
	return READ_ONCE(*(u64 *)(e->f->bar + where));
}

/* Whose an entry is alternates from lap to lap. */
static bool owner(u32 number, u32 depth)
{
	return !(number & depth);
}

/*
 * A driver that looks for its answer frees the queues as soon as it has the last one, that of
 * DESTROY_EQ: nothing is written or raised after that. Other events are written before the answer,
 * and the handler runs when one is raised.
 */
static bool post_event(struct eri *e, u64 header)
{
	u64 *event =
		soft_dma(e->f, e->events + (e->n_events & (e->event_depth - 1)) * EVENT, EVENT);
	bool is_last =
		FIELD_GET(HDR_MODULE, header) == COMMON && FIELD_GET(HDR_OPCODE, header) == 1;

	if (!event || is_last || !(read_register(e, REG_ARM) & ARM_EVENT))
		return false;
	event[1] = 0;
	WRITE_ONCE(event[0], owner(e->n_events, e->event_depth) ? EVENT_OWNER : 0);
	e->n_events++;
	return true;
}

static bool serve_command(struct eri *e)
{
	u32 mask = e->depth - 1;
	const u64 *in = soft_dma(e->f, e->commands + (e->n_taken & mask) * BLOCK, COMMAND);
	__be32 *out = soft_dma(e->f, e->completions + (e->n_completed & mask) * BLOCK, BLOCK);
	struct command c = { .in = in };
	bool has_event;
	u64 header;
	u32 last;

	if (!in || !out)
		return false;
	header = in[0];
	last = FIELD_PREP(CQE_OPCODE, FIELD_GET(HDR_OPCODE, header)) |
	       FIELD_PREP(CQE_QUEUE, QUEUE_COMMAND) | FIELD_PREP(CQE_SYNDROME, run(e, &c));
	has_event = post_event(e, header);
	out[1] = cpu_to_be32(e->n_taken);
	for (int i = 0; i < 4; i++)
		out[2 + i] = cpu_to_be32(((u32 *)c.out)[i]);
	if (owner(e->n_completed, e->depth))
		last |= CQE_OWNER;
	e->n_taken += 1 + FIELD_GET(HDR_BLOCKS, header);
	e->n_completed++;
	wmb(); /* the answer, before whose it is */
	WRITE_ONCE(out[0], cpu_to_be32(last));
	if (has_event)
		soft_interrupt(e->f, 0);
	return true;
}

/* A doorbell stays until it is taken, so what a driver that let go has left is no command of the
 * next. */
static bool serve_commands(struct eri *e)
{
	u64 rung = xchg((u64 *)(e->f->bar + REG_DOORBELL), NOT_RUNG);
	bool was_busy = false;

	if (rung != NOT_RUNG)
		e->n_rung = rung;
	rmb(); /* the commands, after their doorbell */
	while (e->n_taken != e->n_rung) {
		if (!serve_command(e))
			break;
		was_busy = true;
	}
	return was_busy;
}

/* --- the function --- */

static bool is_power(u32 depth)
{
	return is_power_of_2(depth) && depth <= 1 << 15;
}

/* A driver writes the addresses before it says CONTROL_INIT: they are taken away, so that those of
 * the next one are seen. */
static void init(struct eri *e)
{
	struct eri start = {
		.f = e->f,
		.commands = read_address(e, REG_COMMANDS),
		.completions = read_address(e, REG_COMPLETIONS),
		.events = read_address(e, REG_EVENTS),
		.depth = read_register(e, REG_DEPTH),
		.event_depth = read_register(e, REG_EQ_DEPTH),
	};

	if (is_fault(initializing, e) || !is_power(start.depth) || !is_power(start.event_depth))
		return;
	start.is_on = true;
	*e = start;
	memset(e->f->bar + REG_COMMANDS, 0, sizeof(u64));
	write_register(e, REG_ARM, 0);
	write_register(e, REG_STATUS, CONTROL_INIT);
}

/* The driver may have said more since. */
static void forget(struct eri *e, u32 control, u32 status)
{
	e->is_on = false;
	write_register(e, REG_STATUS, status);
	cmpxchg((u32 *)(e->f->bar + REG_CONTROL), control, 0);
}

static bool serve(struct soft_function *f)
{
	struct eri *e = f->data;
	u32 control = read_register(e, REG_CONTROL);

	if (!control)
		return false;
	if (!soft_is_master(f)) { /* no driver, or one that let go */
		forget(e, control, 0);
		return false;
	}
	if (control & CONTROL_RESET) {
		forget(e, control, CONTROL_RESET);
		return true;
	}
	if (read_address(e, REG_COMMANDS))
		init(e);
	return e->is_on && !is_fault(frozen, e) && serve_commands(e);
}

static int plug(struct soft_function *f)
{
	struct eri *e = kzalloc(sizeof(*e), GFP_KERNEL);
	u64 mac = MAC + f->card->slot;

	if (!e)
		return -ENOMEM;
	e->f = f;
	f->data = e;
	write_register(e, REG_VERSION, is_fault(broken, e) ? 0 : 1);
	write_register(e, REG_PROTOCOL, 0);
	write_register(e, REG_MAC, lower_32_bits(mac));
	write_register(e, REG_MAC + 4, upper_32_bits(mac));
	xchg((u64 *)(f->bar + REG_DOORBELL), NOT_RUNG);
	return 0;
}

static void unplug(struct soft_function *f)
{
	kfree(f->data);
}

static const struct soft_model model = {
	.name = "ERI",
	.vendor = 0x1ded,
	.pf_device = 0x107f,
	.class = PCI_CLASS_NETWORK_ETHERNET << 8,
	.pf_bar = 1 << 20,
	.msix_bar = 64 << 10,
	.plug = plug,
	.unplug = unplug,
	.serve = serve,
	.in_interrupt = true,
};

/* --- which slots have a card --- */

static DECLARE_BITMAP(wanted, SOFT_SLOTS);
static DECLARE_BITMAP(plugged, SOFT_SLOTS);
static bool is_ready; /* for cards: false while the module is loaded */

static void change_slots(void)
{
	for (unsigned int i = 0; i < SOFT_SLOTS; i++) {
		if (test_bit(i, wanted) && !test_bit(i, plugged)) {
			if (soft_plug(&model, i, 1, 0) == 0)
				__set_bit(i, plugged);
		} else if (!test_bit(i, wanted) && test_bit(i, plugged)) {
			soft_unplug(&model, i);
			__clear_bit(i, plugged);
		}
	}
}

/* The kernel has a lock for the parameters of a module, so one write ends before the next. */
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
	return bitmap_print_to_pagebuf(true, buf, plugged, SOFT_SLOTS);
}

static const struct kernel_param_ops cards_ops = { .set = set_cards, .get = get_cards };
module_param_cb(cards, &cards_ops, NULL, 0644);
MODULE_PARM_DESC(cards, "the slots that have a card, as \"0,2-3\"; a write plugs and unplugs, and "
			"waits for the driver");

static int __init soft_erdma_init(void)
{
	change_slots();
	is_ready = true;
	return 0;
}

static void __exit soft_erdma_exit(void)
{
	bitmap_zero(wanted, SOFT_SLOTS);
	change_slots();
}

module_init(soft_erdma_init);
module_exit(soft_erdma_exit);
MODULE_DESCRIPTION("Model of an ERI for erdma");
MODULE_LICENSE("GPL");
