// Playback of a playback URL by Media Source Extensions, for browsers that play no HLS.

import { delay, fetchPlaylist, fetchSegment, playbackPath } from './browser-playback.js';
import { isTemporary, LiveInterruption, pauseMilliseconds, stuckPlaylistError } from './live-interruption.js';
import { MediaSourceClass, playableVariants } from './media-source-support.js';
import { secondsBehind, Track, unreadableMediaError } from './media-source-track.js';
import { MediaTimeline } from './media-timeline.js';
import { forwardBuffer } from './now-playing.js';
import { PlaybackError } from './playback-diagnosis.js';
import { sourceURL } from './playback-url.js';
import { appendedDamage, FailedMedia, recoveryStep } from './segment-recovery.js';
import { Subtitles } from './subtitles.js';

const secondsAhead = 30;
const pollMilliseconds = 200;
/** The share of the measured throughput that a variant may need. */
const usableThroughput = 0.8;
/** The deviation of timestamps from those of the video, in seconds, from which a track has an offset of its own. */
const maximumDeviation = 2;
/** The time, in seconds, that browsers decode before it is played. */
const decodingAhead = 0.5;
/** The time before the end of a buffered range, in seconds, in which a browser can wait: not all tracks have a last frame there. */
const maximumRemainder = 0.5;

/**
 * Events: `tracks` when the audio tracks are known or change; `gap` with `{start, end}` when playback continues after a gap in the
 * media; `recovery` with `{action: "switch"|"skip"|"gap"|"incomplete"|"short", segment, error, isLast, seconds}` when a segment that
 * cannot be played is replaced by that of another variant, or left out, when it is a gap, or when its bytes or its media end early;
 * `live` with `{state: "interrupted"|"continued"|"moved"|"restarted", seconds, isAtLiveEdge, error}` when a live stream is not
 * delivered, is delivered again, no longer lists the position, or has begun anew; `error`, with the `error` property.
 */
export class MediaSourcePlayer extends EventTarget {
    error;
    /** `[{label, language, enabled}]`. */
    audioTracks = [];
    #video;
    #subtitles;
    #source;
    #sourceURL;
    // Resolved when the media source is open.
    #opened;
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
    #failedMedia = new FailedMedia();
    #interruption = new LiveInterruption();
    // The number of times that the live playlist has begun anew.
    #restarts = 0;
    // The error of the first segment that the browser could not read since playback has made progress.
    #unreadableError = null;
    // The position after a gap, or with which a new media source begins.
    #skippedTo;
    // The position at the last look at it.
    #position;
    // Whether playback was paused at that time: an error of the browser pauses it too.
    #isPaused;

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
        this.#openSource();
        this.#video.addEventListener('seeking', () => this.#restartTracks(), { signal });
        this.#video.addEventListener('error', () => this.#recoverFromMediaError(signal), { signal });
        // Not between two segments only: the next one can take long.
        const timer = setInterval(() => this.#skipGap(), pollMilliseconds);
        signal.addEventListener('abort', () => clearInterval(timer));
        try {
            const path = playbackPath(url);
            const playlist = await fetchPlaylist(path, signal);
            await this.#opened;
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

    /** Attaches a media source without media to the video element. */
    #openSource() {
        const source = this.#source = new MediaSourceClass();
        this.#opened = new Promise((resolve) => source.addEventListener('sourceopen', resolve, { once: true }));
        this.#sourceURL = URL.createObjectURL(source);
        this.#video.src = this.#sourceURL;
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
        this.#skippedTo = undefined;
        for (const track of this.#tracks) track.restart();
    }

    /** Appends the segments of a track ahead of the position until playback ends or fails. */
    async #fill(track, signal) {
        while (!signal.aborted) {
            const { generation } = track;
            const source = this.#source;
            try {
                await this.#fillOnce(track, signal);
            } catch (error) {
                if (signal.aborted) return;
                // A seek or a new media source has interrupted the load.
                if (error.name === 'AbortError' || source !== this.#source) continue;
                if (error.isAppend) await this.#replaceSource(track, track.loading, error, signal);
                else if (track.generation !== generation) continue;
                // The cause can be another track.
                else if (this.#video.error) await delay(pollMilliseconds, signal);
                else await this.#recover(track, error, signal);
            }
        }
    }

    /** Continues after a failure with another load, in another variant or after the segment; playback ends if nothing is left. */
    async #recover(track, error, signal) {
        const { failures, loading } = track;
        error.resource ??= track.resource;
        // The first one is the cause, even if further segments fail.
        failures.error ??= error;
        failures.since ??= performance.now();
        if (error.isFinal || error.status === 501) return this.#fail(error);
        if (error.isStuck) return this.#awaitLiveStream(track, error, signal);
        failures.loads += 1;
        const variants = track.isAudio ? [] : this.#variants.map(({ address }) => address);
        const { address } = track.timeline;
        const step = recoveryStep({
            ...failures, variants, current: address, skipped: track.skipped, isDamaged: error.isDamaged, canSkip: loading !== undefined,
            excluded: variants.filter((variant) => this.#failedMedia.isExcluded(variant)),
            isLive: isTemporary(error) && !track.timeline.isEnded && track.timeline.segments.length > 0,
        });
        if (step.action === 'fail') return this.#fail(failures.error);
        if (step.action === 'retry') return delay(step.delay, signal);
        if (step.action === 'wait') return this.#awaitLiveStream(track, failures.error, signal);
        if (step.action === 'skip') {
            // The cause is the segment.
            for (const variant of failures.failed) this.#failedMedia.include(variant);
            track.skip(loading);
        } else if (!await this.#continueWith(step.variant, track, signal)) {
            return;
        }
        if (loading) this.#reportRecovery(step.action, loading, error);
    }

    /** Continues with the variant with an address in place of one that fails, and returns whether that is possible. */
    async #continueWith(address, track, signal) {
        const { generation, loading } = track;
        const timeline = new MediaTimeline(address, this.#reference);
        try {
            await timeline.update(signal);
        } catch {
            this.#failedMedia.exclude(address);
            track.failures.failed.push(address);
            // If that was the last one, the present variant has further loads.
            track.failures.loads = 1;
            return false;
        }
        if (signal.aborted || track.generation !== generation) return false;
        this.#failedMedia.exclude(track.timeline.address);
        track.continueWith(timeline, loading);
        return true;
    }

    /** Leaves out the segment that a live stream does not deliver, if any, and tries all variants again after a pause. */
    async #awaitLiveStream(track, error, signal) {
        const { failures, loading, timeline } = track;
        if (!this.#interruption.add(track, error, failures.since)) return this.#fail(error);
        for (const variant of [...failures.failed, timeline.address]) this.#failedMedia.include(variant);
        if (loading) track.skip(loading);
        else track.forgetFailures();
        this.#reportLive('interrupted', { error: this.#interruption.error });
        await delay(pauseMilliseconds(timeline.targetDuration), signal);
    }

    /** Ends the interruption of a live stream if a track was the last one that was not delivered. */
    #endInterruption(track) {
        const seconds = this.#interruption.remove(track);
        if (seconds === undefined) return;
        const { error, isAtLiveEdge } = this.#interruption;
        this.#reportLive('continued', { seconds, error, isAtLiveEdge });
    }

    /**
     * Continues at the live edge, and returns whether it has to: playback waits, or soon has to, after an interruption, or it waits at a
     * position that the live playlist no longer lists.
     */
    #continueAtLiveEdge(track) {
        const { timeline } = track;
        const { currentTime, paused } = this.#video;
        if (track !== this.#tracks[0] || timeline.isEnded || timeline.hasFailed || paused) return false;
        const { isActive } = this.#interruption;
        if (forwardBuffer(this.#video) > (isActive ? timeline.targetDuration : maximumRemainder)) return false;
        const isMissing = timeline.segments[0]?.start > currentTime + maximumRemainder;
        const distance = timeline.liveEdge - currentTime;
        if (!(isMissing && distance > maximumRemainder) && !(isActive && distance > timeline.targetDuration)) return false;
        if (isActive) this.#interruption.isAtLiveEdge = true;
        else this.#reportLive('moved', { seconds: distance });
        for (const other of this.#tracks) other.restart();
        this.#updateDuration();
        this.#skippedTo = timeline.liveEdge;
        this.#video.currentTime = this.#skippedTo;
        return true;
    }

    #reportLive(state, detail) {
        this.dispatchEvent(new CustomEvent('live', { detail: { state, ...detail } }));
    }

    #reportRecovery(action, { sequence }, error, details = {}) {
        this.dispatchEvent(new CustomEvent('recovery', { detail: { ...details, action, segment: sequence, error } }));
    }

    /** Continues after an error of the browser that no append has reported: it has decoded what is at the position, or soon after. */
    async #recoverFromMediaError(signal) {
        const source = this.#source;
        // The append can report it later.
        await delay(pollMilliseconds, signal);
        if (signal.aborted || source !== this.#source) return;
        const { currentTime, error } = this.#video;
        const isAudio = /\baudio\b/i.test(error?.message);
        const track = this.#tracks.find((other) => other.isAudio === isAudio) ?? this.#tracks[0];
        const segment = [decodingAhead, 0].map((distance) => track?.timeline.segmentAt(currentTime + distance))
            .find((other) => other && !this.#failedMedia.isDamaged(track.timeline.address, other.sequence));
        if (segment) await this.#replaceSource(track, segment, unreadableMediaError(), signal);
        else this.#fail(this.#unreadableError ?? unreadableMediaError());
    }

    /**
     * Continues at the position with a new media source and without a segment that the browser cannot read, after which a media
     * source takes and plays nothing.
     */
    async #replaceSource(track, segment, error, signal) {
        const { address } = track.timeline;
        error.resource ??= { url: sourceURL(address), segment: segment.sequence };
        this.#failedMedia.addDamaged(address, segment.sequence);
        const { currentTime, playbackRate } = this.#video;
        const paused = this.#video.error ? this.#isPaused : this.#video.paused;
        // One attempt with each variant, and one more without the segment.
        const maximum = this.#variants.length + 1;
        const count = this.#failedMedia.countError(currentTime);
        if (count === 1) this.#unreadableError = error;
        if (count > maximum) return this.#fail(track.failures.error ?? this.#unreadableError);
        if (!track.isAudio) {
            this.#failedMedia.exclude(address);
            if (this.#variants.length > 1) this.#reportRecovery('switch', segment, error);
        }
        for (const other of this.#tracks) other.removeBuffer();
        // Loads that wait for the source buffers continue, and end because their media source has been replaced.
        this.#buffers.resolve();
        this.#buffers = Promise.withResolvers();
        URL.revokeObjectURL(this.#sourceURL);
        this.#openSource();
        if (currentTime > 0) {
            this.#skippedTo = currentTime;
            this.#video.currentTime = currentTime;
        }
        // A new source pauses and has the default rate.
        this.#video.playbackRate = playbackRate;
        if (!paused) this.#video.play().catch(() => {});
        await this.#opened;
        if (!signal.aborted) this.#updateDuration();
    }

    async #fillOnce(track, signal) {
        const { timeline, generation } = track;
        track.loading = undefined;
        track.resource = { url: sourceURL(timeline.address) };
        if ((timeline.segments.length === 0 || !timeline.isEnded) && timeline.reloadDelay === 0) {
            await timeline.update(signal);
            this.#updateDuration();
            this.#noteRestart(timeline);
        }
        // A seek or another rendition has changed what is wanted.
        if (track.generation !== generation) return;
        if (this.#continueAtLiveEdge(track)) return delay(pollMilliseconds, signal);
        const { currentTime } = this.#video;
        let segment = track.nextSegment(currentTime);
        if (!segment) {
            track.isComplete = timeline.isEnded;
            if (timeline.isStuck) throw stuckPlaylistError();
            if (!timeline.hasFailed) track.forgetFailures();
            if (timeline.isEnded) this.#endInterruption(track);
            this.#endStream();
            return delay(pollMilliseconds, signal);
        }
        track.isComplete = false;
        if (segment.start > currentTime + secondsAhead) {
            track.forgetFailures();
            await track.removeBefore(currentTime - secondsBehind);
            return delay(pollMilliseconds, signal);
        }
        if (segment.gap && track === this.#tracks[0]) this.#reportRecovery('gap', segment);
        if (segment.gap) return track.pass(segment);
        if (!track.isAudio) segment = await this.#chooseVariant(track, segment, signal);
        if (track.generation !== generation) return;
        track.loading = segment;
        track.resource = { url: sourceURL(track.timeline.address), segment: segment.sequence };
        if (this.#failedMedia.isDamaged(track.timeline.address, segment.sequence)) {
            throw Object.assign(unreadableMediaError(), { isDamaged: true });
        }
        const start = performance.now();
        const { bytes, type, timestamp } = await fetchSegment(track.timeline.address, segment.sequence, track.signal(signal));
        this.#measure(bytes.byteLength, performance.now() - start);
        await this.#addBuffers(track, type);
        if (track.generation !== generation) return;
        const offset = this.#offset(track, segment, timestamp);
        const isComplete = await track.append({ bytes, type }, segment, offset, () => this.#video.currentTime, signal);
        const damage = isComplete !== undefined && appendedDamage(track, segment, isComplete, timestamp + offset);
        if (damage) this.#reportRecovery(damage.action, segment, undefined, damage);
        if (track.generation === generation) this.#endInterruption(track);
    }

    #noteRestart({ restarts }) {
        if (restarts <= this.#restarts) return;
        this.#restarts = restarts;
        this.#failedMedia.forgetDamaged();
        this.#reportLive('restarted', {});
    }

    /** Adds the source buffers as soon as the types of all tracks are known. */
    async #addBuffers(track, type) {
        await this.#opened;
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
     * Continues after a part of the stream that not all tracks have: a gap of the playlist or a segment that was left out, or, if
     * playback waits there, a gap between two segments, since the tracks of a segment do not end at the same time.
     */
    #skipGap() {
        const { buffered, currentTime, paused, readyState, seeking } = this.#video;
        const moves = currentTime !== this.#position;
        this.#position = currentTime;
        if (!this.#video.error) this.#isPaused = paused;
        const plays = readyState >= HTMLMediaElement.HAVE_FUTURE_DATA || (paused && !seeking && currentTime > 0);
        const waits = !moves && !plays;
        if (this.#tracks.length === 0 || (!waits && (paused || seeking))) return;
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
            // The audio goes on in a gap of the video, after which some browsers play nothing.
            const isInGap = gapStart === currentTime && start - currentTime > maximumRemainder;
            if (!waits && !isInGap) return;
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
        const usable = this.#variants.filter(({ address }) => !this.#failedMedia.isExcluded(address));
        const wanted = usable.filter(({ bandwidth }) => bandwidth <= limit).at(-1) ?? usable[0];
        if (!wanted || wanted.address === track.timeline.address) return segment;
        const { generation } = track;
        const timeline = new MediaTimeline(wanted.address, this.#reference);
        try {
            await timeline.update(signal);
        } catch (error) {
            if (signal.aborted) throw error;
            // The present variant continues.
            this.#failedMedia.exclude(wanted.address);
            return segment;
        }
        const match = timeline.segmentAt(segment.start + 0.1);
        if (!match || match.gap || track.generation !== generation) return segment;
        if (this.#failedMedia.isDamaged(wanted.address, match.sequence)) return segment;
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
