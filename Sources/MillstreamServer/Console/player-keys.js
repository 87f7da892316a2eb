// The keyboard: play, pause and seek, without taking keys from whatever has the focus.

const seekSeconds = 5;

export function followKeys(player, section) {
    // On the way down, and no further: Chromium's own controls listen at the video element, do not ask whether the
    // key was taken, and would seek or toggle a second time.
    document.addEventListener('keydown', (event) => {
        const action = actionOf(event, player, section);
        if (!action) return;
        event.preventDefault();
        event.stopPropagation();
        action();
    }, { capture: true });
}

function actionOf({ target, key, repeat, ctrlKey, metaKey, altKey }, player, section) {
    // A key held down would press a button that changed its meaning under it: Download, then Cancel.
    if (repeat && (key === 'Enter' || key === ' ') && target.closest('button')) return () => {};
    if (!player.selection || !player.playsHLS || ctrlKey || metaKey || altKey) return undefined;
    if (target.closest('input, select, textarea, dialog')) return undefined;
    if (key === 'k' || key === 'K' || (key === ' ' && !target.closest('button, a'))) {
        return repeat ? () => {} : () => player.togglePlay();
    }
    if (section.contains(target)) {
        if (key === 'ArrowLeft') return () => player.seekBy(-seekSeconds);
        if (key === 'ArrowRight') return () => player.seekBy(seekSeconds);
    }
    return undefined;
}
