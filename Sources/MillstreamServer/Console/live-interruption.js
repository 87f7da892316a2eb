// An interruption of a live stream, for whose end playback waits.

import { PlaybackError } from './playback-diagnosis.js';

/** The time for which playback waits for a track of a live stream; it ends later. */
const maximumMilliseconds = 300_000;
/** The shortest and the longest pause between two requests during an interruption. */
const [minimumPauseMilliseconds, maximumPauseMilliseconds] = [1_000, 10_000];
/** The statuses of responses that another request does not change. */
const finalStatuses = [400, 401, 403, 410, 413, 415];

/** Returns whether what a live stream does not deliver because of an error can be delivered later. */
export function isTemporary({ status }) {
    return !finalStatuses.includes(status);
}

/** Returns the error for a live playlist without new segments. */
export function stuckPlaylistError() {
    return Object.assign(new PlaybackError('stuck-playlist', 'The live playlist has no new segments.'), { isStuck: true });
}

/** Returns the pause between two requests for a live stream with a target duration in seconds, in milliseconds. */
export function pauseMilliseconds(targetDuration) {
    return Math.min(Math.max(targetDuration * 500, minimumPauseMilliseconds), maximumPauseMilliseconds);
}

/** The tracks of a live stream that are not delivered, and since when. */
export class LiveInterruption {
    /** The first error of the interruption. */
    error;
    /** Whether playback continues at the live edge. */
    isAtLiveEdge = false;
    #since;
    // The tracks that are not delivered, each with the time since which it is not.
    #tracks = new Map();

    get isActive() {
        return this.#tracks.size > 0;
    }

    /**
     * Notes that a track is not delivered since a time, and returns whether playback waits for it, which is limited for each track;
     * times are in milliseconds.
     */
    add(track, error, since, now = performance.now()) {
        if (!this.isActive) {
            this.error = error;
            this.isAtLiveEdge = false;
            this.#since = since;
        }
        if (!this.#tracks.has(track)) this.#tracks.set(track, since);
        return now - this.#tracks.get(track) < maximumMilliseconds;
    }

    /** Notes that a track is delivered, and returns the duration of the interruption in seconds if it ends with that. */
    remove(track, now = performance.now()) {
        if (!this.#tracks.delete(track) || this.isActive) return undefined;
        return (now - this.#since) / 1000;
    }
}
