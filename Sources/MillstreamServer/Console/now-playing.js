// What is said about the playback: title, where it comes from, figures, failures, and the address to take away.

import { setAttribute, setHidden, setText, setTextOrHide } from './element.js';
import { clockText } from './format.js';
import { announce, complain } from './status.js';

const find = (id) => document.getElementById(id);
const millisecondsBetweenFigures = 500;

export function showNowPlaying(player, edits, video) {
    const section = find('player');
    const nowPlaying = find('now-playing');
    const facts = Object.fromEntries(
        [...nowPlaying.querySelectorAll('[data-fact]')].map((node) => [node.dataset.fact, node]),
    );

    setHidden(find('no-native-hls'), player.playsHLS);
    find('close-player').addEventListener('click', () => {
        player.close();
        find('catalogue-title').focus();
    });
    find('try-again').addEventListener('click', () => player.replay());
    find('try-proxy').addEventListener('click', () => edits.useProxy());
    find('copy-address').addEventListener('click', copyAddress);
    find('address').addEventListener('focus', (event) => event.target.select());
    player.addEventListener('select', showSelection);
    player.addEventListener('load', showAddress);
    player.addEventListener('problem', showProblem);
    for (const event of ['timeupdate', 'resize', 'loadedmetadata', 'emptied', 'seeked']) {
        video.addEventListener(event, showFigures);
    }
    setInterval(showFigures, millisecondsBetweenFigures);

    function showSelection() {
        const { selection } = player;
        setHidden(section, !selection);
        setAttribute(nowPlaying, 'data-origin', selection?.origin);
        setText(find('player-title'), selection?.title ?? '');
        document.title = selection ? `${selection.title} · Millstream` : 'Millstream';
        if (!selection) return;
        setText(find('playing-from'), selection.origin === 'kept' ? 'Kept copy (local)' : 'From the origin');
        section.scrollIntoView({ block: 'start' });
        // Without the browser's HLS there is no video to steer, but an address to take away.
        (player.playsHLS ? video : find('address')).focus({ preventScroll: true });
    }

    function showAddress() {
        find('address').value = player.address;
        const saveLink = find('save-playlist');
        saveLink.href = player.address;
        // Control and separator characters have no place in a file name, and titles come from strangers.
        saveLink.download = `${player.selection.title.replace(/[^\p{L}\p{N} ._-]+/gu, ' ').trim() || 'stream'}.m3u8`;
        setHidden(find('address-note'), !/^(localhost|127\.|\[::1\])/.test(location.hostname));
    }

    function showProblem() {
        const { problem } = player;
        const box = find('playback-problem');
        setHidden(box, !problem);
        if (!problem) return;
        setText(box.querySelector('[data-part=message]'), problem.message);
        setTextOrHide(box.querySelector('[data-part=hint]'), problem.hint);
        setHidden(find('try-proxy'), !problem.offerProxy);
        announce(`${player.selection.title} cannot be played: ${problem.message}`, { tone: 'problem', spoken: true });
    }

    function showFigures() {
        if (!player.selection) return;
        const { currentTime, duration, videoWidth, videoHeight } = video;
        setText(facts.position, `${clockText(currentTime)} / ${clockText(duration)}`);
        setText(facts.resolution, videoWidth > 0 ? `${videoWidth} × ${videoHeight}` : '–');
        setText(facts.buffered, `${bufferedAhead(video).toFixed(0)} s`);
        const frames = video.getVideoPlaybackQuality?.();
        setText(facts.dropped, frames ? `${frames.droppedVideoFrames} of ${frames.totalVideoFrames}` : '–');
        edits.showPicture(videoWidth, videoHeight);
    }
}

function bufferedAhead({ buffered, currentTime }) {
    for (let index = 0; index < buffered.length; index += 1) {
        const [start, end] = [buffered.start(index), buffered.end(index)];
        // A little before the start counts too: after a seek the first frame lies a bit behind the position.
        if (start <= currentTime + 0.1 && currentTime <= end) return end - currentTime;
    }
    return 0;
}

async function copyAddress() {
    const field = find('address');
    try {
        await navigator.clipboard.writeText(field.value);
    } catch {
        // Browsers give the clipboard to secure pages only; over plain HTTP from another machine the old way is left.
        field.select();
        if (!document.execCommand('copy')) {
            complain('The address could not be copied. It is selected now: copy it with the keyboard.');
            return;
        }
        find('copy-address').focus();
    }
    announce('The address is copied.');
}
