// Playback of a playback URL by Media Source Extensions, for browsers that play no HLS.

import { delay, fetchPlaylist, fetchSegment, playbackPath } from './browser-playback.js';
import { MediaTimeline } from './media-timeline.js';
import { PlaybackError } from './playback-diagnosis.js';
import { sourceURL } from './playback-url.js';
import { Subtitles } from './subtitles.js';

const secondsAhead = 30;
const secondsBehind = 30;
const pollMilliseconds = 200;
/** The share of the measured throughput that a variant may need. */
const usableThroughput = 0.8;
/** The maximum number of failed loads of a segment in succession. */
const maximumFailures = 4;
/** The deviation of timestamps from those of the video, in seconds, from which a track has an offset of its own. */
const maximumDeviation = 2;
/** The time before the end of a buffered range, in seconds, in which a browser can wait: not all tracks have a last frame there. */
const maximumRemainder = 0.5;

/** The beginnings of the names of subtitle codecs, which source buffers do not take. */
const subtitleCodecs = /^(wvtt|stpp|tx3g|vtt|ttml)/;

/** The beginnings of the names of video codecs. */
const videoCodecs = /^(avc|hvc|hev|dvh|vp0?[89]|av01)/;

/** The class of media sources that this browser has; `undefined` without any. */
export const MediaSourceClass = globalThis.MediaSource ?? globalThis.ManagedMediaSource;

/**
 * Events: `tracks` when the audio tracks are known or change; `gap` with `{start, end}` when playback continues after a gap in the
 * media; `error`, with the `error` property.
 */
export class MediaSourcePlayer extends EventTarget {
    error;
    /** `[{label, language, enabled}]`. */
    audioTracks = [];
    #video;
    #subtitles;
    #source = new MediaSourceClass();
    #sourceURL;
    #abort = new AbortController();
    #playlist;
    #variants = [];
    #tracks = [];
    // The offsets from timestamps to positions by discontinuity sequence number, which all tracks share.
    #offsets = new Map();
    // Resolved when all source buffers exist, which have to be added before media is appended to any of them.
    #buffers = Promise.withResolvers();
    // Bits per second; the first variant is the one with the lowest bandwidth until a segment was loaded.
    #throughput;
    // The position after a gap.
    #skippedTo;
    // The position at the last look at it.
    #position;

    constructor(video) {
        super();
        this.#video = video;
        this.#subtitles = new Subtitles(video);
        // Required for ManagedMediaSource.
        video.disableRemotePlayback = true;
    }

    /** Plays a playback URL from a position in seconds; `undefined` for the preferred start of the stream. */
    async play(url, position) {
        const { signal } = this.#abort;
        this.#sourceURL = URL.createObjectURL(this.#source);
        const isOpen = new Promise((resolve) => this.#source.addEventListener('sourceopen', resolve, { once: true }));
        this.#video.src = this.#sourceURL;
        this.#video.addEventListener('seeking', () => this.#restartTracks(), { signal });
        // Not between two segments only: the next one can take long.
        const timer = setInterval(() => this.#skipGap(), pollMilliseconds);
        signal.addEventListener('abort', () => clearInterval(timer));
        try {
            const path = playbackPath(url);
            const playlist = await fetchPlaylist(path, signal);
            await isOpen;
            this.#playlist = playlist.type === 'multivariant' ? playlist : { variants: [{ address: path }], renditions: [] };
            this.#variants = playableVariants(this.#playlist.variants);
            if (this.#variants.length === 0) {
                throw new PlaybackError('unsupported-codecs', 'This browser supports the codecs of none of the variants.');
            }
            await this.#start(position, signal);
        } catch (error) {
            this.#fail(error);
        }
    }

    close() {
        this.#abort.abort();
        this.#video.disableRemotePlayback = false;
        this.#subtitles.remove();
        URL.revokeObjectURL(this.#sourceURL);
    }

    /** Plays the audio track at an index of `audioTracks`. */
    selectAudio(index) {
        for (const [other, track] of this.audioTracks.entries()) track.enabled = other === index;
        const track = this.#tracks.find(({ isAudio }) => isAudio);
        const { rendition } = this.audioTracks[index];
        if (track && rendition.address) track.replace(new MediaTimeline(rendition.address, this.#reference));
        this.dispatchEvent(new Event('tracks'));
    }

    /** Returns the timeline of the video. */
    #reference = () => this.#tracks[0]?.timeline;

    async #start(position, signal) {
        const variant = this.#variants[0];
        const main = new Track(new MediaTimeline(variant.address), false);
        await main.timeline.update(signal);
        this.#tracks.push(main);
        const audio = this.#playlist.renditions.filter(({ type, group }) => type === 'audio' && group === variant.audio);
        this.audioTracks = audio.map((rendition) => ({ label: rendition.name, language: rendition.language, rendition }));
        const selected = Math.max(0, audio.findIndex((rendition) => rendition.default));
        if (audio[selected]?.address) {
            this.audioTracks[selected].enabled = true;
            const track = new Track(new MediaTimeline(audio[selected].address, this.#reference), true);
            await track.timeline.update(signal);
            this.#tracks.push(track);
        } else {
            // The audio is in the variants.
            this.audioTracks = [];
        }
        this.dispatchEvent(new Event('tracks'));
        this.#subtitles.show(this.#playlist, variant.subtitles, (discontinuity) => this.#offsets.get(discontinuity) ?? null,
            this.#reference);
        this.#updateDuration();
        const { timeline } = main;
        const isInside = position > 0 && position < timeline.end - 0.5;
        const start = isInside && timeline.isEnded ? position : timeline.startPosition;
        if (start > 0) this.#video.currentTime = start;
        for (const track of this.#tracks) this.#fill(track, signal);
    }

    #updateDuration() {
        const { timeline } = this.#tracks[0];
        if (this.#source.readyState !== 'open' || this.#tracks.some(({ isUpdating }) => isUpdating)) return;
        if (timeline.isEnded) {
            const duration = Math.max(...this.#tracks.map((track) => track.timeline.end));
            if (!(Math.abs(this.#source.duration - duration) < 0.5)) this.#source.duration = duration;
            return;
        }
        this.#source.duration = Infinity;
        this.#source.setLiveSeekableRange?.(Math.max(0, timeline.segments[0]?.start ?? 0), Math.max(0, timeline.end));
    }

    #restartTracks() {
        // Browsers round positions.
        if (Math.abs(this.#video.currentTime - this.#skippedTo) < 0.001) return;
        for (const track of this.#tracks) track.restart();
    }

    /** Appends the segments of a track ahead of the position until playback ends or fails. */
    async #fill(track, signal) {
        let failures = 0;
        while (!signal.aborted) {
            try {
                await this.#fillOnce(track, signal);
                failures = 0;
            } catch (error) {
                if (signal.aborted) return;
                // A seek has interrupted the load.
                if (error.name === 'AbortError') continue;
                failures += 1;
                const cause = this.#video.error ? unreadableMediaError() : error;
                cause.resource ??= track.resource;
                if (this.#video.error || failures >= maximumFailures || error.isFinal || error.status === 501) return this.#fail(cause);
                await delay(500 * 2 ** failures, signal);
            }
        }
    }

    async #fillOnce(track, signal) {
        const { timeline, generation } = track;
        if ((timeline.segments.length === 0 || !timeline.isEnded) && timeline.reloadDelay === 0) {
            await timeline.update(signal);
            this.#updateDuration();
        }
        // A seek or another rendition has changed what is wanted.
        if (track.generation !== generation) return;
        const { currentTime } = this.#video;
        let segment = track.nextSegment(currentTime);
        if (!segment) {
            track.isComplete = timeline.isEnded;
            this.#endStream();
            await delay(pollMilliseconds, signal);
            return;
        }
        track.isComplete = false;
        if (segment.start > currentTime + secondsAhead) {
            await track.removeBefore(currentTime - secondsBehind);
            await delay(pollMilliseconds, signal);
            return;
        }
        if (segment.gap) {
            track.pass(segment);
            return;
        }
        if (!track.isAudio) segment = await this.#chooseVariant(track, segment, signal);
        if (track.generation !== generation) return;
        track.resource = { url: sourceURL(track.timeline.address), segment: segment.sequence };
        const start = performance.now();
        const { bytes, type, timestamp } = await fetchSegment(track.timeline.address, segment.sequence, track.signal(signal));
        this.#measure(bytes.byteLength, performance.now() - start);
        await this.#addBuffers(track, type);
        if (track.generation !== generation) return;
        const offset = this.#offset(track, segment, timestamp);
        await track.append({ bytes, type }, segment, offset, () => this.#video.currentTime, signal);
    }

    /** Adds the source buffers as soon as the types of all tracks are known. */
    async #addBuffers(track, type) {
        track.type ??= type;
        if (this.#tracks.every((other) => other.type && !other.hasBuffer)) {
            const unsupported = this.#tracks.find((other) => !MediaSourceClass.isTypeSupported(other.type));
            if (unsupported) {
                const error = new PlaybackError('unsupported-codecs', `This browser does not support ${unsupported.type}.`);
                throw Object.assign(error, { isFinal: true });
            }
            for (const other of this.#tracks) other.addBuffer(this.#source);
            this.#buffers.resolve();
        }
        await this.#buffers.promise;
    }

    /**
     * Continues after a part of the stream that not all tracks have, if playback waits there: a gap of the playlist, or one between
     * two segments, since the tracks of a segment do not end at the same time.
     */
    #skipGap() {
        const { buffered, currentTime, paused, readyState, seeking } = this.#video;
        const moves = currentTime !== this.#position;
        this.#position = currentTime;
        const plays = readyState >= HTMLMediaElement.HAVE_FUTURE_DATA || (paused && !seeking && currentTime > 0);
        if (moves || plays || this.#tracks.length === 0) return;
        // Ranges of before a seek can be far after the segment that is loaded at present.
        const loadedEnd = Math.min(...this.#tracks.map(({ lastEnd }) => lastEnd));
        let gapStart = currentTime;
        for (let index = 0; index < buffered.length; index += 1) {
            const [start, end] = [buffered.start(index), buffered.end(index)];
            if (end <= currentTime) continue;
            if (start <= currentTime) {
                if (end - currentTime > maximumRemainder) return;
                gapStart = end;
                continue;
            }
            if (start > loadedEnd + 0.1) return;
            this.#skippedTo = start + 0.001;
            this.#video.currentTime = this.#skippedTo;
            this.dispatchEvent(new CustomEvent('gap', { detail: { start: gapStart, end: start } }));
            return;
        }
    }

    #endStream() {
        const isBusy = this.#tracks.some(({ isComplete, isUpdating }) => !isComplete || isUpdating);
        if (!isBusy && this.#source.readyState === 'open') this.#source.endOfStream();
    }

    /** Returns the offset from the timestamps of a segment to positions. */
    #offset(track, { start, discontinuity }, timestamp) {
        const own = start - timestamp;
        const known = this.#offsets.get(discontinuity);
        // The playlists of a live stream can begin with different segments.
        const isLiveAudio = track.isAudio && !track.timeline.isEnded;
        if (known !== undefined && (isLiveAudio || Math.abs(known - own) < maximumDeviation)) return known;
        // The video determines the offset, because the durations of the playlists are its own.
        if (known === undefined || !track.isAudio) this.#offsets.set(discontinuity, own);
        return own;
    }

    #measure(bytes, milliseconds) {
        const measured = bytes * 8000 / Math.max(milliseconds, 1);
        this.#throughput = this.#throughput === undefined ? measured : 0.6 * this.#throughput + 0.4 * measured;
    }

    /** Continues with the variant that the throughput permits, and returns its segment in place of `segment`. */
    async #chooseVariant(track, segment, signal) {
        if (this.#throughput === undefined) return segment;
        const limit = this.#throughput * usableThroughput;
        const wanted = this.#variants.filter(({ bandwidth }) => bandwidth <= limit).at(-1) ?? this.#variants[0];
        if (wanted.address === track.timeline.address) return segment;
        const { generation } = track;
        const timeline = new MediaTimeline(wanted.address, this.#reference);
        try {
            await timeline.update(signal);
        } catch (error) {
            if (signal.aborted) throw error;
            // The present variant continues.
            this.#variants = this.#variants.filter((variant) => variant !== wanted);
            return segment;
        }
        const match = timeline.segmentAt(segment.start + 0.1);
        if (!match || match.gap || track.generation !== generation) return segment;
        track.timeline = timeline;
        return match;
    }

    #fail(error) {
        if (this.#abort.signal.aborted) return;
        this.#abort.abort();
        this.error = error;
        this.dispatchEvent(new Event('error'));
    }
}

/** A source buffer with the segments that are appended to it. */
class Track {
    timeline;
    isAudio;
    isComplete = false;
    /** The media type of the segments with their codecs; `undefined` before the first one is loaded. */
    type;
    /** The segment that is loaded and appended at present, as errors name it. */
    resource;
    #buffer;
    // The segment that was appended or left out last; `undefined` after a seek.
    #last;
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
            const start = bufferedEnd(this.#buffer, position) ?? position;
            return this.timeline.segmentAt(start);
        }
        const next = this.timeline.segmentAfter(this.#last.sequence);
        // After a pause of a live stream, its position has moved on.
        return next && next.start + next.duration < position - secondsBehind ? this.timeline.segmentAt(position) : next;
    }

    pass(segment) {
        this.#last = segment;
    }

    /** Continues at the position of the video, which has changed. */
    restart() {
        this.generation += 1;
        this.#last = undefined;
        this.#abort.abort();
        this.#abort = new AbortController();
    }

    /** Continues with another rendition, in place of what is appended. */
    async replace(timeline) {
        this.timeline = timeline;
        this.restart();
        await this.#update((buffer) => buffer.remove(0, Infinity));
    }

    /** Appends a segment; `position` returns that of the video, before which media is removed if there is no space. */
    async append({ bytes, type }, segment, offset, position, signal) {
        const { generation } = this;
        if (type !== this.type) {
            await this.#update((buffer) => buffer.changeType(type));
            this.type = type;
        }
        while (!signal.aborted && this.generation === generation) {
            try {
                await this.#append(bytes, offset);
                if (this.generation === generation) this.#last = segment;
                return;
            } catch (error) {
                if (error.name !== 'QuotaExceededError') throw error;
                await this.removeBefore(position() - 5);
                await delay(1000, signal);
            }
        }
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
            const fail = () => reject(unreadableMediaError());
            buffer.addEventListener('updateend', end);
            buffer.addEventListener('error', fail, { once: true });
            operation(buffer);
            // Some operations are complete at once.
            if (!buffer.updating) end();
        });
    }
}

/** Returns the end of the range that contains a position; `undefined` if there is none. */
function bufferedEnd(buffer, position) {
    const { buffered } = buffer ?? {};
    for (let index = 0; index < (buffered?.length ?? 0); index += 1) {
        if (buffered.start(index) <= position + 0.1 && position < buffered.end(index)) return buffered.end(index);
    }
    return undefined;
}

/**
 * Returns the variants with which one source buffer can continue, those with the lowest bandwidth first: all with video if any has
 * it, and all with the audio in the variant or all with the audio in renditions.
 */
function playableVariants(variants) {
    const supported = variants.filter(({ address, codecs }) => address && isSupported(codecs))
        .sort((one, other) => (one.bandwidth ?? 0) - (other.bandwidth ?? 0));
    const withVideo = supported.filter(({ height, codecs }) => height > 0 || codecs?.some((codec) => videoCodecs.test(codec)));
    const candidates = withVideo.length > 0 ? withVideo : supported;
    return candidates.filter(({ audio }) => (audio === undefined) === (candidates[0].audio === undefined));
}

function unreadableMediaError() {
    return new PlaybackError('unreadable-media', 'The browser cannot read its media.');
}

function isSupported(codecs) {
    const text = codecs?.filter((codec) => !subtitleCodecs.test(codec)).join(',');
    return !text || ['video', 'audio'].some((kind) => MediaSourceClass.isTypeSupported(`${kind}/mp4; codecs="${text}"`));
}
