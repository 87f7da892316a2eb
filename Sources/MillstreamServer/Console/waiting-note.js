// The note that playback waits for data, with the network conditions, which can be the reason.

import { setTextOrHide } from './element.js';

const intervalMilliseconds = 500;
/** The time for which the position has to stay the same, in seconds: playback also waits for moments without a fault. */
const minimumSeconds = 2;

/** Shows for how long playback has waited, until it continues or has failed. */
export function showWaitingNote(video, player, networkConditions) {
    const note = document.getElementById('waiting-note');
    let position;
    let waitingSince;
    setInterval(update, intervalMilliseconds);
    player.addEventListener('error', update);

    function update() {
        // The events of the video do not tell: a browser reports progress after it has begun to wait.
        const moves = video.currentTime !== position;
        position = video.currentTime;
        const wantsData = video.currentSrc && !video.paused && !video.ended && !video.error && !player.error;
        if (moves || !wantsData) waitingSince = undefined;
        else waitingSince ??= performance.now();
        const seconds = waitingSince === undefined ? 0 : (performance.now() - waitingSince) / 1000;
        setTextOrHide(note, seconds >= minimumSeconds
            ? `Playback has waited for data for ${Math.floor(seconds)} s. The network conditions are “${networkConditions.text}”; `
                + 'other conditions apply at once.'
            : '');
    }
}
