// Quantities as text for people. The page is in English, so the numbers are too, whatever the browser's language.

/** A size with a decimal unit, as disks and file browsers count: "34.5 MB". */
export function sizeText(bytes) {
    if (!Number.isFinite(bytes)) return '–';
    if (bytes < 1000) return `${Math.round(bytes)} bytes`;
    const units = ['kB', 'MB', 'GB', 'TB'];
    let value = bytes;
    let unit = -1;
    do {
        value /= 1000;
        unit += 1;
    } while (value >= 999.5 && unit < units.length - 1);
    return `${value < 100 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A bit rate: "900 kbit/s", "2.5 Mbit/s". */
export function bitRateText(bitsPerSecond) {
    if (!Number.isFinite(bitsPerSecond)) return '–';
    if (bitsPerSecond < 999_500) return `${Math.round(bitsPerSecond / 1000)} kbit/s`;
    return `${Number((bitsPerSecond / 1e6).toPrecision(bitsPerSecond < 1e8 ? 2 : 3))} Mbit/s`;
}

/** A position or duration in seconds as a clock: "1:02:03", "0:12". */
export function clockText(seconds) {
    if (seconds === Infinity) return 'Live';
    if (!Number.isFinite(seconds)) return '–';
    const whole = Math.max(0, Math.floor(seconds));
    const pad = (number) => String(number).padStart(2, '0');
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor((whole % 3600) / 60);
    return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

/** How long something still takes, said roughly, because it is a guess: "about 2 min left". */
export function remainingText(seconds) {
    if (!Number.isFinite(seconds)) return '';
    if (seconds < 1.5) return 'nearly done';
    if (seconds < 20) return `about ${Math.round(seconds)} s left`;
    if (seconds < 90) return `about ${Math.round(seconds / 5) * 5} s left`;
    if (seconds < 5400) return `about ${Math.round(seconds / 60)} min left`;
    return `about ${Math.round(seconds / 3600)} h left`;
}

/** A variant's picture size in the short way: "720p"; nothing for audio. */
export function heightText(variant) {
    return variant.height ? `${variant.height}p` : variant.width ? `${variant.width} wide` : '';
}

/** "720p 2.5 Mbit/s". */
export function variantText(variant) {
    return [heightText(variant) || 'Audio', bitRateText(variant.bandwidth)].join(' ');
}

// Rounded down: 99.6 % is not yet all of it.
export function percentText(percent) {
    return `${Math.floor(percent)} %`;
}

const languages = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' });

/** "English" for "en"; a code that is not a language tag is shown as it is. */
export function languageText(code) {
    try {
        return languages.of(code) ?? code;
    } catch {
        return code;
    }
}

/** Up to two initials for a picture that is not there. */
export function initialsOf(name) {
    const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
    return words.slice(0, 2).map((word) => [...word][0].toUpperCase()).join('') || '?';
}

// From green over blue to rose: yellow and brown look dirty when they are dark.
/** A hue that stays the same for the same name. */
export function hueOf(name) {
    let hash = 7;
    for (const character of name) hash = (hash * 31 + character.codePointAt(0)) % 3600;
    return 150 + (hash % 190);
}

const sayingNothing = /^(index|master|main|multi|media|playlist|multivariant|prog_index|manifest)\b/i;

/** A title for an address that has none: its host and the last thing of its path that says something. */
export function titleOfAddress(address) {
    try {
        const url = new URL(address);
        const steps = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
        const telling = steps.findLast((step) => !sayingNothing.test(step));
        return [url.host, telling].filter(Boolean).join(' · ');
    } catch {
        return address;
    }
}
