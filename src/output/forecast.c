/* SPDX-License-Identifier: Apache-2.0 */
#include "forecast.h"

#include "plugin-output.h"

void forecast_done(struct forecast *f)
{
	free(f->pools);
	*f = (struct forecast){};
}

static struct forecast_pool *find_pool(struct forecast *f, const char *resource)
{
	struct forecast_pool *pool;

	for (size_t i = 0; i < f->n_pools; i++)
		if (streq(f->pools[i].resource, resource))
			return &f->pools[i];
	pool = APPEND(f->pools, f->n_pools);
	if (pool)
		COPY(pool->resource, resource);
	return pool;
}

static const char *pf_of(const struct device *d)
{
	return d->is_vf ? d->pci->physfn : d->pci->address;
}

static bool is_exposed(const struct plan *p, const struct device *d)
{
	return ANY(e, p->lint.exposed, p->lint.n_exposed, streq(e->pci, d->pci->address));
}

/* One that is usable and not exposed stays out: the plugin, or its file, cannot have it. */
static bool is_coming(const struct config *c, const struct plan *p, const struct device *d)
{
	if (output_plugin_offers(d))
		return c->plugin.type == PLUGIN_NONE || is_exposed(p, d);
	return d->is_handed_out && !d->is_missing && !d->is_excluded;
}

/* Of a PF whose VFs are made: those. Of all others: one that comes. */
static size_t count_after(const struct config *c, const struct plan *p, const struct device *d)
{
	if (!plan_changes_vfs(p, pf_of(d)))
		return is_coming(c, p, d);
	return d->is_vf || d->aside != REASON_NONE ? 0 : MAX(d->wanted_vfs, UINT32_C(1));
}

/* No device before this one that counts is of the same PF. */
static bool is_first_of_pf(const struct config *c, const struct plan *p, size_t i)
{
	return !ANY(d, p->devices, i,
		    streq(pf_of(d), pf_of(&p->devices[i])) && count_after(c, p, d) > 0);
}

static int add_later(const struct config *c, const struct plan *p, struct forecast *f)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		const struct device *d = &p->devices[i];
		const size_t n = count_after(c, p, d);
		struct forecast_pool *pool;

		if (n == 0)
			continue;
		pool = find_pool(f, output_plugin_resource(c, d));
		if (!pool)
			return -ENOMEM;
		pool->n_after += n;
		pool->n_infiniband += device_is_infiniband(d) ? n : 0;
		pool->n_nics += is_first_of_pf(c, p, i);
	}
	return 0;
}

static int add_now(const struct plan *p, struct forecast *f)
{
	for (size_t i = 0; i < p->lint.n_exposed && p->lint.refusal == REASON_NONE; i++) {
		struct forecast_pool *pool = find_pool(f, p->lint.exposed[i].resource);

		if (!pool)
			return -ENOMEM;
		pool->n_now++;
	}
	return 0;
}

int forecast_make(const struct config *c, const struct plan *p, struct forecast *ret)
{
	_cleanup_(forecast_done) struct forecast f = {};
	int r;

	r = add_now(p, &f);
	if (r >= 0)
		r = add_later(c, p, &f);
	if (r < 0)
		return r;

	*ret = TAKE_STRUCT(f);
	return 0;
}
