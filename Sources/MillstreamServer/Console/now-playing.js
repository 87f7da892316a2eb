// What is said about the playback: title, where it comes from, and figures.

import { setAttribute, setHidden, setText } from './element.js';
import { clockText } from './format.js';

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
    player.addEventListener('select', showSelection);
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
