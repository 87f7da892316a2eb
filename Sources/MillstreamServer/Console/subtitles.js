// The subtitles of a stream in browsers that play its video, but do not show its subtitles.

import { delay, fetchCues, fetchPlaylist, fetchTimestamp, playbackPath } from './browser-playback.js';
import { MediaTimeline } from './media-timeline.js';

const secondsAhead = 30;
const pollMilliseconds = 500;

/** The offsets from the timestamps of the media to the timeline of the page, from the media playlist of the video. */
class TimestampOffsets {
    #timeline;
    #offsets = new Map();

    constructor(address) {
        this.#timeline = new MediaTimeline(address);
    }

    async offset(discontinuity, signal) {
        if (this.#timeline.segments.length === 0) await this.#timeline.update(signal);
        if (!this.#offsets.has(discontinuity)) {
            const segment = this.#timeline.firstSegment(discontinuity);
            const timestamp = segment && await fetchTimestamp(this.#timeline.address, segment.sequence, signal);
            this.#offsets.set(discontinuity, segment && segment.start - timestamp);
        }
        return this.#offsets.get(discontinuity);
    }
}

/** Adds a text track for each subtitle rendition to a video, and loads the cues of the one that is shown. */
export class Subtitles {
    #video;
    #nodes = [];
    #abort;

    constructor(video) {
        this.#video = video;
    }

    /**
     * Shows the subtitles of a multivariant playlist that the browser itself plays. Live streams are left out: what their
     * position means is not known.
     */
    async load(url) {
        this.remove();
        const { signal } = this.#abort = new AbortController();
        try {
            const playlist = await fetchPlaylist(playbackPath(url), signal);
            const main = playlist.variants?.find(({ address }) => address);
            if (!main) return;
            const offsets = new TimestampOffsets(main.address);
            this.#addTracks(playlist, main.subtitles, (discontinuity) => offsets.offset(discontinuity, signal));
        } catch {
            // A failure is reported by the playback itself.
        }
    }

    /**
     * Shows the subtitle renditions of a multivariant playlist that the page plays; `offset` returns the offset of a discontinuity
     * sequence number, `null` while it is unknown, and `reference` the timeline of the video.
     */
    show({ renditions }, group, offset, reference) {
        this.remove();
        this.#abort = new AbortController();
        this.#addTracks({ renditions }, group, offset, reference);
    }

    #addTracks({ renditions }, group, offset, reference) {
        const { signal } = this.#abort;
        for (const rendition of renditions) {
            if (rendition.type !== 'subtitles' || rendition.group !== group || !rendition.address) continue;
            const node = document.createElement('track');
            node.kind = 'subtitles';
            node.label = rendition.name;
            if (rendition.language) node.srclang = rendition.language;
            this.#nodes.push(node);
            this.#video.append(node);
            this.#follow(node.track, new MediaTimeline(rendition.address, reference), offset, signal);
        }
    }

    /** Removes the subtitles of the stream that was played before. */
    remove() {
        this.#abort?.abort();
        for (const node of this.#nodes) node.remove();
        this.#nodes = [];
    }

    /** Loads the cues of a track from the position on, while it is shown. */
    async #follow(track, timeline, offset, signal) {
        const loaded = new Set();
        while (!signal.aborted) {
            await delay(pollMilliseconds, signal);
            if (signal.aborted || track.mode !== 'showing') continue;
            try {
                if (!timeline.isEnded && timeline.reloadDelay === 0) await timeline.update(signal);
                const { currentTime } = this.#video;
                const wanted = timeline.segments.find((segment) => !loaded.has(cueKey(segment))
                    && segment.start + segment.duration > currentTime && segment.start < currentTime + secondsAhead);
                if (!wanted) continue;
                const known = await offset(wanted.discontinuity);
                if (known === null) continue;
                const cues = wanted.gap ? []
                    : await fetchCues(timeline.address, wanted.sequence, { start: wanted.start, offset: known }, signal);
                loaded.add(cueKey(wanted));
                for (const cue of cues) addCue(track, cue);
            } catch (error) {
                // A server that cannot convert the media does not know its timestamps either.
                if (error.status === 501) return this.remove();
                // The segment is requested again after a pause.
                await delay(timeline.targetDuration * 500, signal);
            }
        }
    }
}

/** Returns the name of a segment whose cues are loaded: numbers are used again by a live playlist that has begun anew. */
function cueKey({ restarts, sequence }) {
    return `${restarts} ${sequence}`;
}

function addCue(track, { start: time, end, text, line, position, size, align, vertical }) {
    const start = Math.max(0, time);
    // A cue that lasts longer than its segment is in all segments during which it is shown.
    const isKnown = [...track.cues ?? []].some((cue) =>
        Math.abs(cue.startTime - start) < 0.05 && Math.abs(cue.endTime - end) < 0.05 && cue.text === text);
    if (isKnown || !text || end <= start) return;
    const cue = new VTTCue(start, end, text);
    if (line !== undefined) {
        cue.snapToLines = false;
        cue.line = line;
    }
    if (position !== undefined) cue.position = position;
    if (size !== undefined) cue.size = size;
    if (align) cue.align = align;
    if (vertical) cue.vertical = vertical;
    track.addCue(cue);
}
