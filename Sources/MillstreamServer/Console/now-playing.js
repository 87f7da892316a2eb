// The title, the source and the statistics of the stream that is playing.

import { setAttribute, setHidden, setText, setTextOrHide } from './element.js';
import { errorDescription } from './error-message.js';
import { formatTime } from './format.js';

const find = (id) => document.getElementById(id);
const statisticsIntervalMilliseconds = 500;

export function showNowPlaying(player, edits, video) {
    const section = find('player');
    const nowPlaying = find('now-playing');
    const statistics = Object.fromEntries(
        [...nowPlaying.querySelectorAll('[data-statistic]')].map((node) => [node.dataset.statistic, node]),
    );

    setHidden(find('no-native-hls'), player.canPlay);
    setHidden(find('keyboard-shortcuts'), !player.canPlay);
    const playback = find('playback-method');
    setHidden(find('playback-method-row'), !player.playsHLS || !player.hasMediaSource);
    playback.addEventListener('change', () => {
        player.selectMethod(playback.value === 'media-source');
    });
    player.addEventListener('method', () => {
        playback.value = player.isPlayedByPage ? 'media-source' : 'browser';
        const isStreamOfBrowser = !player.isPlayedByPage && !player.selection?.isFile;
        const isNoteShown = isStreamOfBrowser && player.hasMediaSource;
        setHidden(find('playback-method-note'), !isNoteShown);
        // A hidden element would still be the description of the control.
        if (isNoteShown) playback.setAttribute('aria-describedby', 'playback-method-note');
        else playback.removeAttribute('aria-describedby');
    });
    find('close-player').addEventListener('click', () => {
        player.close();
        find('catalog-title').focus();
    });
    player.addEventListener('select', updateSelection);
    let gapCount = 0;
    let liveNotes = {};
    player.addEventListener('load', () => {
        gapCount = 0;
        liveNotes = {};
        setTextOrHide(find('live-note'), '');
        setTextOrHide(find('gaps-note'), '');
        setTextOrHide(find('recovery-note'), '');
    });
    player.addEventListener('recovery', ({ detail }) => setTextOrHide(find('recovery-note'), recoveryNote(detail)));
    player.addEventListener('live', ({ detail }) => {
        liveNotes = { ...liveNotes, ...liveNote(detail) };
        setTextOrHide(find('live-note'), Object.values(liveNotes).join(' '));
    });
    player.addEventListener('gap', ({ detail: { start, end } }) => {
        gapCount += 1;
        const last = `${(end - start).toFixed(2)} s at ${formatTime(Math.floor(start))}`;
        setTextOrHide(find('gaps-note'), gapCount === 1 ? `Playback has passed a gap in the media, ${last}.`
            : `Playback has passed ${gapCount} gaps in the media, the last one ${last}.`);
    });
    for (const event of ['timeupdate', 'resize', 'loadedmetadata', 'emptied', 'seeked']) {
        video.addEventListener(event, updateStatistics);
    }
    setInterval(updateStatistics, statisticsIntervalMilliseconds);

    function updateSelection() {
        const { selection } = player;
        setHidden(section, !selection);
        setAttribute(nowPlaying, 'data-origin', selection?.origin);
        setText(find('player-title'), selection?.title ?? '');
        document.title = selection ? `${selection.title} · Millstream` : 'Millstream';
        if (!selection) return;
        setText(find('playback-origin'), selection.origin === 'offline' ? 'Offline copy' : 'From origin');
        section.scrollIntoView({ block: 'start' });
        // Where the browser plays no streams, there is no playback to control, but the playback URL can be copied.
        (player.canPlay ? video : find('playback-url')).focus({ preventScroll: true });
    }

    function updateStatistics() {
        if (!player.selection) return;
        const { currentTime, duration, videoWidth, videoHeight } = video;
        // The seconds that have passed.
        setText(statistics.position, `${formatTime(Math.floor(currentTime))} / ${formatTime(duration)}`);
        setText(statistics.resolution, videoWidth > 0 ? `${videoWidth} × ${videoHeight}` : '–');
        setText(statistics.buffer, `${forwardBuffer(video).toFixed(0)} s`);
        const quality = video.getVideoPlaybackQuality?.();
        setText(statistics['dropped-frames'], quality
            ? `${quality.droppedVideoFrames} of ${quality.totalVideoFrames}` : '–');
        edits.markPlayingVariant(videoWidth, videoHeight);
    }
}

/** Returns the sentences about a segment that cannot be played, or only in part. */
export function recoveryNote({ action, segment, error, isLast, seconds }) {
    switch (action) {
    case 'incomplete':
        return `Segment ${segment} of the playlist ends before its media is complete, so playback `
            + (isLast ? 'ends there.' : 'continues with the next segment.');
    case 'short':
        return `The media of segment ${segment}, the last one of the playlist, is ${seconds.toFixed(1)} s shorter than the playlist says, `
            + 'so playback ends earlier.';
    case 'gap':
        return `Segment ${segment} of the playlist is a gap without media (EXT-X-GAP), so it is left out.`;
    default:
        break;
    }
    const consequence = action === 'switch' ? 'another variant plays' : 'playback continues after it';
    return `Segment ${segment} of the playlist cannot be played, so ${consequence}. ${errorDescription(error).message}`;
}

/** Returns the sentences about a live stream that the page plays, by their kind: each one replaces an earlier one of its kind. */
export function liveNote({ state, seconds, isAtLiveEdge, error }) {
    switch (state) {
    case 'interrupted':
        return { interruption: 'The live stream is interrupted. Playback continues when it is delivered again. '
            + errorDescription(error).message };
    case 'continued':
        return { interruption: `The live stream was interrupted for ${Math.round(seconds)} s, and playback continues`
            + `${isAtLiveEdge ? ' at the live edge' : ''}.` };
    case 'moved':
        return { interruption: 'The live playlist no longer lists the position, so playback continues at the live edge, '
            + `${Math.round(seconds)} s later.` };
    case 'restarted':
        return { restart: 'The live playlist has begun anew, and playback continues with its new segments.' };
    default:
        return {};
    }
}

/** Returns the length of the forward buffer in seconds. */
export function forwardBuffer({ buffered, currentTime }) {
    for (let index = 0; index < buffered.length; index += 1) {
        const [start, end] = [buffered.start(index), buffered.end(index)];
        // The tolerance is for seeks, after which the first frame can be slightly later than the position.
        if (start <= currentTime + 0.1 && currentTime <= end) return end - currentTime;
    }
    return 0;
}
