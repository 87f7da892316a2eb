// The segments of a media playlist with their times on the timeline of the page, which a live playlist continues.

import { fetchPlaylist } from './browser-playback.js';

/** The difference of the dates of the same segment in two playlists, in seconds. */
const maximumDateDifference = 1;
/** The distance between the live edge and the end of a live playlist, in target durations. */
const liveEdgeTargetDurations = 3;
/** The time without a new segment after which a live playlist is stuck, in target durations, and its minimum in milliseconds. */
const [stuckTargetDurations, minimumStuckMilliseconds] = [3, 10_000];
/** The time for which a live playlist has lower media sequence numbers, in target durations, until it counts as one that has begun anew. */
const lowerTargetDurations = 3;
/** The number of consecutive loads with lower media sequence numbers until then: a suspended browser loads none for long. */
const minimumLowerLoads = 3;
/** The distance of the discontinuity sequence numbers of a live playlist from those of before it has begun anew. */
const discontinuitiesPerStart = 2 ** 32;

export class MediaTimeline {
    address;
    /**
     * `[{sequence, start, duration, discontinuity, date, gap, restarts}]` in their order. Segments of before and after the playlist has
     * begun anew differ in `discontinuity`.
     */
    segments = [];
    isEnded = false;
    targetDuration = 6;
    /** Whether the playlist could not be loaded at the last try. */
    hasFailed = false;
    /** The start position that the playlist prefers; negative from its end. */
    preferredStart;
    /** The number of times that the live playlist has begun anew, with lower media sequence numbers. */
    restarts;
    #lastLoad = -Infinity;
    // The time of the last load that had new segments.
    #lastChange = -Infinity;
    // The time since which the playlist has had lower media sequence numbers; `undefined` if it has not.
    #lowerSince;
    // The number of loads since then.
    #lowerLoads = 0;
    #reference;

    /** `reference` returns the timeline of the video, with whose times those of a live playlist begin. */
    constructor(address, reference) {
        this.address = address;
        this.#reference = reference;
        this.restarts = reference?.()?.restarts ?? 0;
    }

    /** Loads the playlist, or loads it again if it can have changed. */
    async update(signal) {
        if (this.isEnded) return;
        this.#lastLoad = performance.now();
        this.hasFailed = true;
        const playlist = await fetchPlaylist(this.address, signal);
        if (this.#hasBegunAnew(playlist)) await this.#beginAnew(playlist, signal);
        else this.#merge(playlist);
        this.hasFailed = false;
    }

    /** The time until the playlist should be loaded again, in milliseconds. */
    get reloadDelay() {
        return Math.max(0, this.#lastLoad + this.targetDuration * 500 - performance.now());
    }

    /** Whether a live playlist has had no new segment for longer than it may (RFC 8216bis §6.2.1). */
    get isStuck() {
        if (this.isEnded || this.hasFailed || this.segments.length === 0) return false;
        const limit = Math.max(this.targetDuration * 1000 * stuckTargetDurations, minimumStuckMilliseconds);
        return performance.now() - this.#lastChange > limit;
    }

    /**
     * Returns whether a live playlist with lower media sequence numbers is a new one, as that of an encoder which was started again. Caches
     * also deliver a playlist of before, which has earlier dates or the segments that are known, and only for a while.
     */
    #hasBegunAnew({ segments }) {
        const [last, newest] = [this.segments.at(-1), segments.at(-1)];
        if (!last || !newest || newest.sequence >= last.sequence) {
            this.#forgetLower();
            return false;
        }
        this.#lowerSince ??= performance.now();
        this.#lowerLoads += 1;
        const isLong = performance.now() - this.#lowerSince >= this.targetDuration * 1000 * lowerTargetDurations;
        if (isLong && this.#lowerLoads >= minimumLowerLoads) return true;
        const isDated = newest.date !== undefined && last.date !== undefined;
        return isDated ? newest.date - last.date > maximumDateDifference : newest.sequence < this.segments[0].sequence;
    }

    #forgetLower() {
        this.#lowerSince = undefined;
        this.#lowerLoads = 0;
    }

    /** Continues with the segments of a live playlist that has begun anew, from its live edge on. */
    async #beginAnew(playlist, signal) {
        const reference = this.#reference?.();
        const follows = reference !== undefined && reference !== this && !reference.isEnded;
        // The video determines the times of all tracks.
        if (follows && reference.restarts === this.restarts) await reference.update(signal);
        const { end } = this;
        this.#forgetLower();
        this.restarts = follows ? Math.max(this.restarts + 1, reference.restarts) : this.restarts + 1;
        this.segments = [];
        this.#merge(playlist);
        if ((follows && reference.restarts === this.restarts) || this.segments.length === 0) return;
        // What precedes the live edge would delay playback.
        const edge = this.isEnded ? -Infinity : this.liveEdge;
        const remaining = this.segments.filter(({ start, duration }) => start + duration > edge + 0.001);
        // Segments whose durations are zero all end at the live edge.
        this.segments = remaining.length > 0 ? remaining : this.segments.slice(-1);
        const distance = end - this.segments[0].start;
        for (const segment of this.segments) segment.start += distance;
    }

    #merge({ ended, targetDuration, start, segments: listed }) {
        const { restarts } = this;
        const segments = listed.map((segment) => (
            { ...segment, restarts, discontinuity: segment.discontinuity + restarts * discontinuitiesPerStart }));
        this.isEnded = ended;
        this.targetDuration = targetDuration ?? this.targetDuration;
        this.preferredStart = start;
        const last = this.segments.at(-1);
        const fresh = last ? segments.filter(({ sequence }) => sequence > last.sequence) : segments;
        if (!last || fresh.length > 0) this.#lastChange = performance.now();
        let time = last ? last.start + last.duration : 0;
        if (last && fresh.length > 0 && fresh[0].sequence > last.sequence + 1) time = this.#timeAfterRemoved(last, fresh[0]);
        for (const segment of fresh) {
            this.segments.push({ ...segment, start: time });
            time += segment.duration;
        }
        if (!ended) {
            // What the playlist no longer lists cannot be loaded.
            this.segments = this.segments.filter(({ sequence }) => sequence >= (segments[0]?.sequence ?? 0));
            if (!last) this.#align(this.#reference?.());
        }
    }

    /** Returns the time of a segment before which segments were removed from a live playlist without having been seen. */
    #timeAfterRemoved(last, { sequence, discontinuity, date }) {
        const distance = date - last.date;
        const removed = sequence - last.sequence - 1;
        // Segments are about as long as the target duration at most: a greater distance is a step of the clock of the encoder.
        const isPlausible = distance >= last.duration && distance <= 2 * (removed + 1) * this.targetDuration;
        if (discontinuity === last.discontinuity && isPlausible) return last.start + distance;
        // They lasted about as long as the others.
        return last.start + last.duration + removed * this.targetDuration;
    }

    /** Moves the segments to the times of the same content in the video. */
    #align(reference) {
        if (!reference || reference === this || reference.restarts !== this.restarts) return;
        if (reference.segments.length === 0 || this.segments.length === 0) return;
        const distance = this.#plausible(distanceByDate(this.segments, reference.segments), reference)
            ?? distanceByStart(discontinuityStarts(this.segments), discontinuityStarts(reference.segments))
            ?? distanceByStart(sequenceStarts(this.segments), sequenceStarts(reference.segments))
            ?? reference.end - this.end;
        for (const segment of this.segments) segment.start += distance;
    }

    /** Returns a distance of dates, or `undefined` if the segments would be far from those of the video: a clock was changed. */
    #plausible(distance, reference) {
        const span = (timeline) => timeline.end - timeline.segments[0].start;
        const tolerance = span(this) + span(reference) + (performance.now() - reference.#lastLoad) / 1000;
        return Math.abs(this.end + distance - reference.end) <= tolerance ? distance : undefined;
    }

    get end() {
        const last = this.segments.at(-1);
        return last ? last.start + last.duration : 0;
    }

    /** The position at which a live stream is played: three target durations before its end (RFC 8216bis §6.3.3). */
    get liveEdge() {
        return Math.max(this.segments[0]?.start ?? 0, this.end - liveEdgeTargetDurations * this.targetDuration);
    }

    /** The position at which playback begins: that of a live stream is its live edge. */
    get startPosition() {
        const first = this.segments[0]?.start ?? 0;
        if (this.preferredStart !== undefined) {
            const { preferredStart } = this;
            return Math.min(Math.max(preferredStart < 0 ? this.end + preferredStart : first + preferredStart, first), this.end);
        }
        return this.isEnded ? first : this.liveEdge;
    }

    /** Returns the segment at a time, or the first one after it. */
    segmentAt(time) {
        // The tolerance is for rounded sums of durations.
        return this.segments.find(({ start, duration }) => start + duration > time + 0.001);
    }

    /** Returns the segment after the one with a media sequence number. */
    segmentAfter(sequence) {
        return this.segments.find((segment) => segment.sequence > sequence);
    }

    /** Returns the first segment with media that has a discontinuity sequence number. */
    firstSegment(discontinuity) {
        return this.segments.find((segment) => segment.discontinuity === discontinuity && !segment.gap);
    }
}

/**
 * Returns the time by which segments have to be moved to those of another playlist with the same dates; `undefined` if dates are
 * missing. Dates can change at a discontinuity, so two segments with the same discontinuity sequence number are compared if there are.
 * A clock can also be changed between the loads of the playlists, so the same segment is compared if possible, or else the oldest ones.
 */
function distanceByDate(segments, others) {
    const [dated, otherDated] = [segments, others].map((all) => all.filter(({ date }) => date !== undefined));
    if (dated.length === 0 || otherDated.length === 0) return undefined;
    const distance = (segment, other) => other.start + segment.date - other.date - segment.start;
    const bySequence = new Map(otherDated.map((other) => [other.sequence, other]));
    const common = dated.find(({ sequence, date }) => Math.abs(date - bySequence.get(sequence)?.date) < maximumDateDifference);
    if (common) return distance(common, bySequence.get(common.sequence));
    const numbers = new Set(otherDated.map(({ discontinuity }) => discontinuity));
    const segment = dated.find(({ discontinuity }) => numbers.has(discontinuity)) ?? dated.at(-1);
    const other = otherDated.find(({ discontinuity }) => discontinuity === segment.discontinuity) ?? otherDated.at(-1);
    return distance(segment, other);
}

/** Returns the starts of the parts between discontinuities whose first segment is known, by discontinuity sequence number. */
function discontinuityStarts(segments) {
    return new Map(segments.filter(({ discontinuity }, index) => index > 0 && segments[index - 1].discontinuity !== discontinuity)
        .map(({ discontinuity, start }) => [discontinuity, start]));
}

/**
 * Returns the starts by media sequence number. Two playlists need not have the same content under the same number (RFC 8216bis
 * §4.4.3.2), but most have if they have no dates.
 */
function sequenceStarts(segments) {
    return new Map(segments.map(({ sequence, start }) => [sequence, start]));
}

/** Returns the distance of the starts that two playlists have under the first common number; `undefined` if there is none. */
function distanceByStart(starts, others) {
    const number = [...starts.keys()].find((key) => others.has(key));
    return number === undefined ? undefined : others.get(number) - starts.get(number);
}
