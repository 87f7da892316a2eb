// What follows a segment that cannot be loaded, or that the browser cannot read.

/** The maximum number of loads of a segment from the last variant that has it, and from one after which another is left. */
const [maximumLoads, maximumLoadsBeforeSwitch] = [4, 2];
/** The maximum number of segments in succession that are left out. */
const maximumSkipped = 1;
/** The time for which a variant is excluded after its first failure; each further failure doubles it. */
const exclusionMilliseconds = 60_000;
/** The time by which the media of the last segment may be shorter than its duration in the playlist, which can be rounded, in seconds. */
const maximumShortage = 1;
/** The progress of playback, in seconds, after which errors of the browser are counted anew. */
const minimumProgress = 1;

/**
 * Returns what follows a failure of a segment: `{action: "retry", delay}` in milliseconds, `{action: "switch", variant}`,
 * `{action: "skip"}`, `{action: "wait"}` or `{action: "fail"}`.
 *
 * `variants` are in the order of their bandwidth, `current` is the one that has failed, `failed` are those that failed before for the
 * same segment, and `excluded` those that failed for others. `loads` counts those from `current`, and `skipped` the segments in
 * succession that were left out. A segment that is `isDamaged` is not loaded again, and what is no segment, without `canSkip`, is
 * not left out. With `isLive`, a live stream is delivered again later, so playback waits for it.
 */
export function recoveryStep({ variants, current, failed, excluded, loads, skipped, isDamaged, canSkip, isLive }) {
    const index = Math.max(0, variants.indexOf(current));
    const others = [...variants.slice(0, index).reverse(), ...variants.slice(index)]
        .filter((variant) => variant !== current && !failed.includes(variant));
    const maximum = skipped > 0 ? 1 : others.length > 0 ? maximumLoadsBeforeSwitch : maximumLoads;
    if (!isDamaged && loads < maximum) return { action: 'retry', delay: 500 * 2 ** loads };
    const variant = others.find((other) => !excluded.includes(other)) ?? others[0];
    if (variant !== undefined) return { action: 'switch', variant };
    if (canSkip && skipped < maximumSkipped) return { action: 'skip' };
    return { action: isLive ? 'wait' : 'fail' };
}

/**
 * Returns what is wrong with a segment that was appended: `{action: "incomplete", isLast}` if its bytes end before its media does,
 * `{action: "short", seconds}` if the media of the last segment of a stream ends that much earlier than its duration in the playlist, or
 * `undefined`. `start` is the position of its media. Media that is missing before another segment is a gap, which playback passes.
 */
export function appendedDamage({ timeline, bufferedEnd }, segment, isComplete, start) {
    const isLast = timeline.isEnded && timeline.segments.at(-1)?.sequence === segment.sequence;
    if (!isComplete) return { action: 'incomplete', isLast };
    const seconds = start + segment.duration - (bufferedEnd ?? Infinity);
    return isLast && seconds > maximumShortage ? { action: 'short', seconds } : undefined;
}

/** The variants that are excluded for a while, and the segments that the browser cannot read. */
export class FailedMedia {
    #exclusions = new Map();
    #damaged = new Set();
    #errorPosition = -Infinity;
    #errorCount = 0;

    /** Excludes the variant with an address; `now` is in milliseconds. */
    exclude(address, now = performance.now()) {
        const failures = (this.#exclusions.get(address)?.failures ?? 0) + 1;
        this.#exclusions.set(address, { failures, end: now + exclusionMilliseconds * 2 ** (failures - 1) });
    }

    /** Uses a variant again whose segment is in no other variant either. */
    include(address) {
        this.#exclusions.delete(address);
    }

    isExcluded(address, now = performance.now()) {
        return now < (this.#exclusions.get(address)?.end ?? -Infinity);
    }

    addDamaged(address, sequence) {
        this.#damaged.add(`${sequence} ${address}`);
    }

    isDamaged(address, sequence) {
        return this.#damaged.has(`${sequence} ${address}`);
    }

    /** Forgets all segments that the browser cannot read: a live playlist that has begun anew uses their numbers again. */
    forgetDamaged() {
        this.#damaged.clear();
    }

    /** Returns the number of errors of the browser since playback has made progress, with one at a position in seconds. */
    countError(position) {
        if (Math.abs(position - this.#errorPosition) >= minimumProgress) {
            this.#errorPosition = position;
            this.#errorCount = 0;
        }
        this.#errorCount += 1;
        return this.#errorCount;
    }
}
