// The segments of a media playlist with their times on the timeline of the page, which a live playlist continues.

import { fetchPlaylist } from './browser-playback.js';

export class MediaTimeline {
    address;
    /** `[{sequence, start, duration, discontinuity, gap}]` in their order. */
    segments = [];
    isEnded = false;
    targetDuration = 6;
    /** The start position that the playlist prefers; negative from its end. */
    preferredStart;
    #lastLoad = -Infinity;
    #reference;

    /** `reference` returns the timeline of the video, with whose times those of a live playlist begin. */
    constructor(address, reference) {
        this.address = address;
        this.#reference = reference;
    }

    /** Loads the playlist, or loads it again if it can have changed. */
    async update(signal) {
        if (this.isEnded) return;
        this.#lastLoad = performance.now();
        this.#merge(await fetchPlaylist(this.address, signal));
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
        if (!ended) {
            // What the playlist no longer lists cannot be loaded.
            this.segments = this.segments.filter(({ sequence }) => sequence >= (segments[0]?.sequence ?? 0));
            if (!last) this.#align(this.#reference?.());
        }
    }

    /** Moves the segments to the times of those of the video with the same media sequence number, or to the same end. */
    #align(reference) {
        if (!reference || reference.segments.length === 0) return;
        const starts = new Map(reference.segments.map(({ sequence, start }) => [sequence, start]));
        const common = this.segments.find(({ sequence }) => starts.has(sequence));
        const distance = common ? starts.get(common.sequence) - common.start : reference.end - this.end;
        for (const segment of this.segments) segment.start += distance;
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
