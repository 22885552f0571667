/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts: what was tried before decides what is tried now.
 *
 * A change that this pass tried and that is wanted still has failed. A change that failed before in
 * this boot with the same configuration is not tried again by an event, as long as each look still
 * wants that very change. A timer tries it again, unless that would first take away what works: VFs
 * that are there, or a driver. A change that three boots failed at is left out. A change that
 * another program undoes again and again is reported, and left alone for a growing time; so is a
 * setting of a netdev that was undone within the pass that made it:
 *
 * A change that succeeded and is wanted once more was undone by another program. Done CONTEST_MAX
 * times within a minute, it is left alone for a minute when it is undone once more, and reported;
 * then it is done again. Undone once more within as long as it had been left alone, it is left
 * alone for twice as long, up to an hour; else all is forgotten.
 *
 * It is the same change when verb, target, subject, ifindex, instance and value are the same, for
 * what failed as for what was undone:
 *
 * - The instance tells a device that was made or bound again from one that was only changed: a card
 *   plugged in, a driver bound, VFs made another time start from nothing, however often that is
 *   done. It is the ifindex where a netdev is meant, unless that was away (in a pod) meanwhile, the
 *   index of the RDMA device for SMC's table, with its name for rdma_cm, else that of struct pci.
 *   VFs are of their PF: setting their number to 0 undoes what was done to the PF, and the way
 *   through zero counts as one change.
 * - The value is a hash of what is set: of the text of a file, of gateway, source and metric of a
 *   route. A new value does not count as a change that another program undid.
 *
 * A change that we undid ourselves is not counted: a removal forgets the addition, and the other
 * way round. Actions that only ask (metadata, the probe of a neighbour) are never counted, nor is
 * switching autoprobe on again, which is always given back.
 */
#pragma once

#include "../model/plan.h"

#define CONTEST_MAX        3
#define CONTEST_FIRST_USEC (60 * USEC_PER_SEC)
#define CONTEST_LAST_USEC  (3600 * USEC_PER_SEC)

/*
 * Gives each open change from number @first on its instance and value. A change that is to be left
 * alone becomes an item that waits, with the reason "contested", and p->again_usec says until when.
 * Nothing is left alone in a pass that a person asked for (p->tried).
 */
void plan_contest(const struct config *c, const struct node *n, const struct memory *memory,
		  size_t first, struct plan *p);

/*
 * Adds changes that failed before in this boot, with the same configuration, to @tried as failed;
 * @is_timer: only those that no timer tries again. Return: 0 or -ENOMEM.
 */
int plan_recall_failures(const struct config *c, const struct node *n, const struct memory *memory,
			 bool is_timer, struct attempts *tried);

/*
 * Marks an action as not done if its function was plugged in or bound again since: it was tried on
 * another instance. So it is tried at once, whatever its result was.
 */
void plan_forget_replaced(const struct node *n, struct attempts *tried);

/*
 * Counts the changes of this pass that succeeded, as of the time of this look, and forgets failed
 * and past ones. A change whose count was written already (is_noted) is in @memory. A pass that a
 * person asked for restores nothing: all counts begin again after it, and with another
 * configuration. Return: 0 or -ENOMEM.
 */
int plan_note_repeats(const struct config *c, const struct node *n, const struct attempts *tried,
		      struct memory *memory);

/*
 * Drops the memory of VFs that this pass destroyed, by a change of their number or by a reload of
 * their PF's driver: VFs that have their addresses now are others. The memory of PFs is kept.
 */
void plan_forget_ended(const struct node *n, const struct attempts *tried, struct memory *memory);

/* A change that is still wanted although it was tried has failed: the second plan shows it. */
void plan_mark_tried(struct plan *p);
