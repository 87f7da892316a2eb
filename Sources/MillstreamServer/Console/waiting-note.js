// The note that playback waits for data, with the reason: the network conditions, or the origin.

import { setTextOrHide } from './element.js';
import { errorDescription } from './error-message.js';
import { fetchPlaylistError } from './playback-diagnosis.js';

const intervalMilliseconds = 500;
/** The time for which the position has to stay the same, in seconds: playback also waits for moments without a fault. */
const minimumSeconds = 2;
/** The time after which the playlists are loaded to find the reason, in seconds, and the time until they are loaded again. */
const [minimumCheckSeconds, checkMilliseconds] = [5, 5000];
/** The statuses with which the server says that the origin delivers nothing. */
const originStatuses = [502, 503, 504];

/** Shows for how long playback has waited, until it continues or has failed. */
export function showWaitingNote(video, player, networkConditions) {
    const note = document.getElementById('waiting-note');
    let position;
    let waitingSince;
    // The error of the origin while playback waits, and the time of the last request for it.
    let originError;
    let checkTime = -Infinity;
    setInterval(update, intervalMilliseconds);
    player.addEventListener('error', update);

    function update() {
        // The events of the video do not tell: a browser reports progress after it has begun to wait.
        const moves = video.currentTime !== position;
        position = video.currentTime;
        const wantsData = video.currentSrc && !video.paused && !video.ended && !video.error && !player.error;
        if (moves || !wantsData) {
            waitingSince = undefined;
            originError = undefined;
        } else {
            waitingSince ??= performance.now();
        }
        const seconds = waitingSince === undefined ? 0 : (performance.now() - waitingSince) / 1000;
        if (seconds >= minimumCheckSeconds) checkOrigin();
        setTextOrHide(note, seconds >= minimumSeconds ? waitingText(seconds, networkConditions, originError) : '');
    }

    /** Loads the playlists of a stream that the browser itself plays without a simulated network, since it does not tell why it waits. */
    async function checkOrigin() {
        const { url, selection } = player;
        const isWanted = url && selection?.origin === 'remote' && !selection.isFile && !player.isPlayedByPage
            && !networkConditions.hasEffect;
        if (!isWanted || performance.now() - checkTime < checkMilliseconds) return;
        // No other request begins before this one has ended.
        checkTime = Infinity;
        const since = waitingSince;
        const error = await fetchPlaylistError(url).catch(() => undefined);
        checkTime = performance.now();
        if (since === waitingSince) originError = originStatuses.includes(error?.status) ? error : undefined;
    }
}

/** Returns the sentences about playback that waits; `originError` is the error of the origin, if it delivers nothing. */
export function waitingText(seconds, { hasEffect, text }, originError) {
    const reason = originError ? errorDescription(originError).message
        : hasEffect ? `The network conditions are “${text}”; other conditions apply at once.` : '';
    return [`Playback has waited for data for ${Math.floor(seconds)} s.`, reason].filter(Boolean).join(' ');
}
