// A track of a stream that is played by Media Source Extensions: its source buffer, and its place in its playlist.

import { delay } from './browser-playback.js';
import { PlaybackError } from './playback-diagnosis.js';

/** The time before the position, in seconds, for which media stays buffered. */
export const secondsBehind = 30;

/** A source buffer with the segments that are appended to it. */
export class Track {
    timeline;
    isAudio;
    isComplete = false;
    /** The media type of the segments with their codecs; `undefined` before the first one is loaded. */
    type;
    /** The segment that is loaded and appended at present; `undefined` while it is the playlist. */
    loading;
    /** The playlist or segment that is loaded and appended at present, as errors name it. */
    resource;
    /**
     * The failures of the present segment: the loads from this variant, the variants that failed before, and the first error with its
     * time in milliseconds.
     */
    failures = { loads: 0, failed: [], error: undefined, since: undefined };
    /** The number of segments in succession that were left out because they failed. */
    skipped = 0;
    #buffer;
    // The segment that was appended or left out last; `undefined` after a seek.
    #last;
    // The time of the next segment in place of the one after the last; `undefined` if there is none.
    #next;
    #abort = new AbortController();
    /** Changes when a seek or another rendition makes all pending work needless. */
    generation = 0;

    constructor(timeline, isAudio) {
        this.timeline = timeline;
        this.isAudio = isAudio;
    }

    get hasBuffer() {
        return this.#buffer !== undefined;
    }

    addBuffer(source) {
        this.#buffer = source.addSourceBuffer(this.type);
    }

    /** Continues without media, until a buffer of another media source is added. */
    removeBuffer() {
        this.#buffer = undefined;
        this.type = undefined;
        this.isComplete = false;
        this.skipped = 0;
        this.restart();
    }

    /** The end of the segment that was appended or left out last: all media before it is buffered, as far as there is any. */
    get lastEnd() {
        return this.#last === undefined ? -Infinity : this.#last.start + this.#last.duration;
    }

    get isUpdating() {
        return this.#buffer?.updating ?? false;
    }

    /** Returns a signal that a seek or `other` aborts. */
    signal(other) {
        return AbortSignal.any([this.#abort.signal, other]);
    }

    nextSegment(position) {
        if (this.#last === undefined) {
            const start = this.#next ?? bufferedEnd(this.#buffer, position) ?? position;
            return this.timeline.segmentAt(start);
        }
        // The numbers of a live playlist that has begun anew are lower.
        if (this.#last.restarts !== this.timeline.restarts) return this.timeline.segmentAt(this.lastEnd + 0.1);
        const next = this.timeline.segmentAfter(this.#last.sequence);
        // After a pause of a live stream, its position has moved on.
        return next && next.start + next.duration < position - secondsBehind ? this.timeline.segmentAt(position) : next;
    }

    pass(segment) {
        this.#last = segment;
        this.#next = undefined;
        this.forgetFailures();
    }

    /** Leaves out a segment that fails in all variants. */
    skip(segment) {
        const { error, since } = this.failures;
        this.pass(segment);
        Object.assign(this.failures, { error, since });
        this.skipped += 1;
    }

    /** Continues with another variant in place of the one that fails, at the segment that it fails with, if any. */
    continueWith(timeline, segment) {
        const { failed, error, since } = this.failures;
        this.failures = { loads: 0, failed: [...failed, this.timeline.address], error, since };
        this.timeline = timeline;
        this.#next = segment ? segment.start + 0.1 : this.#last ? this.lastEnd + 0.1 : this.#next;
        this.#last = undefined;
    }

    forgetFailures() {
        this.failures = { loads: 0, failed: [], error: undefined, since: undefined };
    }

    /** Continues at the position of the video, which has changed. */
    restart() {
        this.generation += 1;
        this.#last = undefined;
        this.#next = undefined;
        this.forgetFailures();
        this.#abort.abort();
        this.#abort = new AbortController();
    }

    /** Continues with another rendition, in place of what is appended. */
    async replace(timeline) {
        this.timeline = timeline;
        this.restart();
        await this.#update((buffer) => buffer.remove(0, Infinity));
    }

    /**
     * Appends a segment, and returns whether its bytes are complete, or `undefined` if a seek has ended the append; `position` returns that
     * of the video, before which media is removed if there is no space.
     */
    async append({ bytes, type }, segment, offset, position, signal) {
        const { generation } = this;
        if (type !== this.type) {
            await this.#update((buffer) => buffer.changeType(type));
            this.type = type;
        }
        while (!signal.aborted && this.generation === generation) {
            try {
                await this.#append(bytes, offset);
                const isComplete = !type.includes('/mp4') || hasCompleteBoxes(bytes);
                if (!isComplete) await this.#update(resetParser);
                if (this.generation !== generation) return undefined;
                this.pass(segment);
                this.skipped = 0;
                return isComplete;
            } catch (error) {
                if (error.name !== 'QuotaExceededError') throw error;
                await this.removeBefore(position() - 5);
                await delay(1000, signal);
            }
        }
        return undefined;
    }

    /** The end of the buffered media in seconds; `undefined` if there is none. */
    get bufferedEnd() {
        const { buffered } = this.#buffer ?? {};
        return buffered?.length > 0 ? buffered.end(buffered.length - 1) : undefined;
    }

    #append(bytes, offset) {
        return this.#update((buffer) => {
            if (buffer.timestampOffset !== offset) buffer.timestampOffset = offset;
            buffer.appendBuffer(bytes);
        });
    }

    async removeBefore(time) {
        const { buffered } = this.#buffer ?? {};
        if (!(buffered?.length > 0) || buffered.start(0) >= time - 1) return;
        await this.#update((buffer) => buffer.remove(0, time));
    }

    async #update(operation) {
        const buffer = this.#buffer;
        if (!buffer) return;
        while (buffer.updating) await new Promise((resolve) => buffer.addEventListener('updateend', resolve, { once: true }));
        await new Promise((resolve, reject) => {
            const end = () => {
                buffer.removeEventListener('updateend', end);
                buffer.removeEventListener('error', fail);
                resolve();
            };
            const fail = () => reject(Object.assign(unreadableMediaError(), { isAppend: true }));
            buffer.addEventListener('updateend', end);
            buffer.addEventListener('error', fail, { once: true });
            operation(buffer);
            // Some operations are complete at once.
            if (!buffer.updating) end();
        });
    }
}

/** Ends the present segment of a source buffer, which would otherwise read the next segment as the rest of a box that is cut off. */
function resetParser(buffer) {
    try {
        buffer.abort();
    } catch (error) {
        // The media source has ended, or the buffer was removed from it.
        if (error.name !== 'InvalidStateError') throw error;
    }
}

/** Returns whether the last box of a segment, an `ArrayBuffer`, ends within its bytes. */
export function hasCompleteBoxes(bytes) {
    const view = new DataView(bytes);
    let offset = 0;
    while (offset < view.byteLength) {
        const remaining = view.byteLength - offset;
        if (remaining < 8) return false;
        let size = view.getUint32(offset);
        if (size === 1) {
            if (remaining < 16) return false;
            size = Number(view.getBigUint64(offset + 8));
        }
        // A box without a size extends to the end, and the browser reports a size that is too small.
        if (size < 8) return true;
        if (size > remaining) return false;
        offset += size;
    }
    return true;
}

/** Returns the end of the range that contains a position; `undefined` if there is none. */
function bufferedEnd(buffer, position) {
    const { buffered } = buffer ?? {};
    for (let index = 0; index < (buffered?.length ?? 0); index += 1) {
        if (buffered.start(index) <= position + 0.1 && position < buffered.end(index)) return buffered.end(index);
    }
    return undefined;
}

/** Returns the error for media that the browser has refused. */
export function unreadableMediaError() {
    return new PlaybackError('unreadable-media', 'The browser cannot read its media.');
}
