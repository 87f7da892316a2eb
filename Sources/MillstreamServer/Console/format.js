// Functions that format quantities. The page is in English, so they ignore the language of the browser.

/** Formats a size with a decimal unit, as the command line does: "1.25 MB", "34.5 MB". */
export function formatSize(bytes) {
    if (!Number.isFinite(bytes)) return '–';
    if (bytes < 1000) return `${Math.round(bytes)} bytes`;
    const units = ['kB', 'MB', 'GB', 'TB'];
    let value = bytes;
    let unit = -1;
    do {
        value /= 1000;
        unit += 1;
    } while (value >= 1000 && unit < units.length - 1);
    const hundredths = Math.round(value * 100);
    const text = value >= 100 ? Math.round(hundredths / 100)
        : value >= 10 ? (Math.round(hundredths / 10) / 10).toFixed(1) : (hundredths / 100).toFixed(2);
    return `${text} ${units[unit]}`;
}

/** Formats a bit rate, as the command line does: "900 kbit/s", "12.3 Mbit/s", "1.2 Gbit/s". */
export function formatBitRate(bitsPerSecond) {
    if (!Number.isFinite(bitsPerSecond)) return '–';
    if (bitsPerSecond < 1000) return `${Math.round(bitsPerSecond)} bit/s`;
    if (bitsPerSecond < 999_500) return `${Math.round(bitsPerSecond / 1000)} kbit/s`;
    const [value, unit] = bitsPerSecond < 999_950_000 ? [bitsPerSecond / 1e6, 'Mbit/s'] : [bitsPerSecond / 1e9, 'Gbit/s'];
    return `${Math.round(value * 10) / 10} ${unit}`;
}

/** Formats a duration in seconds, as the command line does: "1:02:03", "00:12". */
export function formatTime(seconds) {
    if (seconds === Infinity) return 'Live';
    if (!Number.isFinite(seconds)) return '–';
    const whole = Math.max(0, Math.round(seconds));
    const pad = (number) => String(number).padStart(2, '0');
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor((whole % 3600) / 60);
    return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${pad(minutes)}:${pad(whole % 60)}`;
}

/** Formats an estimate of the time remaining, rounded to its precision: "about 2 min left". */
export function formatTimeRemaining(seconds) {
    if (!Number.isFinite(seconds)) return '';
    if (seconds < 1.5) return 'almost done';
    if (seconds < 20) return `about ${Math.round(seconds)} s left`;
    if (seconds < 90) return `about ${Math.round(seconds / 5) * 5} s left`;
    if (seconds < 5400) return `about ${Math.round(seconds / 60)} min left`;
    return `about ${Math.round(seconds / 3600)} h left`;
}

/** Formats the resolution of a variant: "720p"; empty for audio. */
export function formatResolution(variant) {
    return variant.height ? `${variant.height}p` : variant.width ? `${variant.width} wide` : '';
}

const audioCodecs = /^(mp4a|ac-3|ec-3|ac-4|alac|fLaC|Opus|mp3)\b/i;

/** Returns whether the codecs of a variant are known and none of them is a video codec. */
export function isAudioOnly({ codecs = [] }) {
    return codecs.length > 0 && codecs.every((codec) => audioCodecs.test(codec));
}

/** Formats a variant, as far as it is known: "720p 2.5 Mbit/s". */
export function formatVariant(variant) {
    const parts = [formatResolution(variant) || (isAudioOnly(variant) ? 'Audio' : '')];
    if (variant.bandwidth > 0) parts.push(formatBitRate(variant.bandwidth));
    return parts.filter(Boolean).join(' ');
}

// Rounded down, so that only a complete download shows 100 %.
export function formatPercent(percent) {
    return `${Math.floor(percent)} %`;
}

const languageNames = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' });

/** Formats a language tag: "English" for "en". Returns a text that is not a language tag unchanged. */
export function formatLanguage(tag) {
    try {
        return languageNames.of(tag) ?? tag;
    } catch {
        return tag;
    }
}

/** Returns whether a text is the name of a language, in English or in the language itself: "Korean" or "한국어" for "ko". */
export function isLanguageName(text, tag) {
    const wanted = text.trim().toLowerCase();
    const names = [formatLanguage(tag)];
    try {
        const base = new Intl.Locale(tag).language;
        names.push(formatLanguage(base), ...[tag, base].map((name) => new Intl.DisplayNames([tag], { type: 'language' }).of(name)));
    } catch {
        // The text is not a language tag.
    }
    return [tag, ...names].some((name) => name?.toLowerCase() === wanted);
}

/** Returns up to two initials, shown in place of a missing poster image. */
export function initials(name) {
    const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
    return words.slice(0, 2).map((word) => [...word][0].toUpperCase()).join('') || '?';
}

/** Returns a hue for a name, always the same one. Yellow and brown are left out, since they look dirty when dark. */
export function hueForName(name) {
    let hash = 7;
    for (const character of name) hash = (hash * 31 + character.codePointAt(0)) % 3600;
    return 150 + (hash % 190);
}

const genericNames = /^(index|master|main|multi|media|playlist|multivariant|prog_index|manifest)\b/i;

/** Returns a title for a URL: its host and the last path component that is not a generic name. */
export function titleForURL(text) {
    try {
        const url = new URL(text);
        const components = url.pathname.split('/').filter(Boolean).map(decodeURIComponent);
        const name = components.findLast((component) => !genericNames.test(component));
        return [url.host, name].filter(Boolean).join(' · ');
    } catch {
        return text;
    }
}
