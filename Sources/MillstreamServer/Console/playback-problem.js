// The box that says why something does not play, and offers what may help.

import { setHidden, setProseOrHide, setText, setTextOrHide } from './element.js';
import { announce } from './status.js';

const find = (id) => document.getElementById(id);

export function showPlaybackProblems(player, edits, inventory) {
    const box = find('playback-problem');
    const part = (name) => box.querySelector(`[data-part=${name}]`);

    find('try-again').addEventListener('click', () => again(() => {
        edits.inspectAgain();
        player.replay();
    }));
    find('try-proxy').addEventListener('click', () => again(() => edits.useProxy()));
    find('play-kept-copy').addEventListener('click', () => {
        const asset = keptCopy();
        const { title, poster } = player.selection;
        if (asset) player.playKept({ title, asset, poster, position: player.position });
    });
    player.addEventListener('problem', show);
    // A copy may become complete, or be deleted, while the box is there.
    inventory.addEventListener('change', showOffers);

    function show() {
        const { problem } = player;
        setHidden(box, !problem);
        if (!problem) return;
        setText(part('message'), problem.message);
        setProseOrHide(part('hint'), problem.hint);
        setTextOrHide(part('address'), problem.address);
        showOffers();
        const offer = keptCopy() ? ' Its kept copy can be played.' : '';
        announce(`“${player.selection.title}” cannot be played. ${problem.message}${offer}`,
            { tone: 'problem', spoken: true });
    }

    function showOffers() {
        const { problem } = player;
        if (!problem) return;
        const kept = keptCopy();
        setHidden(find('play-kept-copy'), !kept);
        find('try-again').classList.toggle('primary', !kept);
        setHidden(find('try-proxy'), !problem.offerProxy);
    }

    /** What is kept of the stream that does not play from its origin. */
    function keptCopy() {
        const { selection, problem } = player;
        if (selection?.origin !== 'remote' || !problem?.offerKept) return undefined;
        const asset = inventory.assetOf({ url: selection.source });
        return asset?.playableOffline ? asset : undefined;
    }

    /** The box goes, and the focus with it, so the video gets it. */
    function again(work) {
        work();
        find('video').focus({ preventScroll: true });
    }
}
