// The segments of a media playlist with their times on the timeline of the page, which a live playlist continues.

import { fetchPlaylist } from './browser-playback.js';

/** The maximum number of segments that are kept of a live playlist. */
const maximumLiveSegments = 1000;

export class MediaTimeline {
    address;
    /** `[{sequence, start, duration, discontinuity, gap}]` in their order. */
    segments = [];
    isEnded = false;
    targetDuration = 6;
    /** The start position that the playlist prefers; negative from its end. */
    preferredStart;
    #lastLoad = -Infinity;

    constructor(address) {
        this.address = address;
    }

    /** Loads the playlist, or loads it again if it can have changed. Returns whether there are new segments. */
    async update(signal) {
        if (this.isEnded) return false;
        this.#lastLoad = performance.now();
        const playlist = await fetchPlaylist(this.address, signal);
        return this.#merge(playlist);
    }

    /** The time until the playlist should be loaded again, in milliseconds. */
    get reloadDelay() {
        return Math.max(0, this.#lastLoad + this.targetDuration * 500 - performance.now());
    }

    #merge({ ended, targetDuration, start, segments }) {
        this.isEnded = ended;
        this.targetDuration = targetDuration ?? this.targetDuration;
        this.preferredStart = start;
        const last = this.segments.at(-1);
        const fresh = last ? segments.filter(({ sequence }) => sequence > last.sequence) : segments;
        let time = last ? last.start + last.duration : 0;
        // The segments that were removed from a live playlist before they were seen lasted about as long as the others.
        if (last && fresh.length > 0) time += (fresh[0].sequence - last.sequence - 1) * this.targetDuration;
        for (const segment of fresh) {
            this.segments.push({ ...segment, start: time });
            time += segment.duration;
        }
        if (!ended) this.segments.splice(0, this.segments.length - maximumLiveSegments);
        return fresh.length > 0;
    }

    /** Moves all segments by a number of seconds. */
    move(seconds) {
        for (const segment of this.segments) segment.start += seconds;
    }

    get end() {
        const last = this.segments.at(-1);
        return last ? last.start + last.duration : 0;
    }

    /** The position at which playback begins: that of a live stream is three target durations before its end. */
    get startPosition() {
        const first = this.segments[0]?.start ?? 0;
        if (this.preferredStart !== undefined) {
            const { preferredStart } = this;
            return Math.min(Math.max(preferredStart < 0 ? this.end + preferredStart : first + preferredStart, first), this.end);
        }
        return this.isEnded ? first : Math.max(first, this.end - 3 * this.targetDuration);
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
