import Foundation
import MediaTiming

/// The display of media without video: its title, its artist and album, the position and the level of the audio.
enum AudioOverlay {
    /// The level that is shown as an empty meter, in decibels relative to full scale.
    private static let minimumLevel = -60.0

    /// Returns the share of a meter that a level fills, from 0 to 1.
    static func share(ofLevel level: Double) -> Double {
        guard level > 0, level.isFinite else { return 0 }
        return max(0, min(1, 1 - 20 * log10(level) / minimumLevel))
    }

    /// Returns the script that draws the title, the details of the media, the position and the audio level.
    ///
    /// - Parameters:
    ///   - title: The title of the window, shown if the title of the media is unknown.
    ///   - state: The state of playback.
    ///   - bar: The layout of the bar, for its scale.
    /// - Returns: The script to draw; empty if there is video.
    static func script(_ title: String, _ state: OverlayState, _ bar: ControlBar) -> OverlayScript {
        var script = OverlayScript(bar.window)
        guard let level = state.audioLevel else { return script }
        let (width, height) = (Double(bar.window.width), Double(bar.window.height))
        let center = width / 2
        // The characters of DejaVu Sans are about 0.6 em wide, which is half of the font size in a script, because that
        // includes ascent and descent, 1.164 em. A long text is shortened so that it remains on one line.
        func shortened(_ text: String, fontSize: Double) -> String {
            let columns = max(8, Int(saturating: width * 0.9 / (fontSize * 0.5)))
            return text.count > columns ? String(text.prefix(columns - 1)) + "…" : text
        }
        // Over an artwork, the text has a dark outline.
        let outline = state.artwork == nil ? 0 : bar.length(2.5)
        var y = height * 0.27
        let titleSize = bar.length(34)
        script.add(
            shortened(state.mediaTitle ?? title, fontSize: titleSize),
            x: center,
            y: y,
            fontSize: titleSize,
            anchor: .center,
            outline: outline
        )
        y += bar.length(44)
        if let details = state.mediaDetails {
            let size = bar.length(26)
            script.add(
                shortened(details, fontSize: size),
                x: center,
                y: y,
                fontSize: size,
                anchor: .center,
                outline: outline
            )
            y += bar.length(38)
        }
        script.add(
            "Audio only   \(TimeFormatter.positionString(of: state))",
            x: center,
            y: y,
            fontSize: bar.length(23),
            anchor: .center,
            color: .white.withOpacity(190),
            outline: outline
        )
        let meter = (width: min(bar.length(520), width * 0.7), height: bar.length(16))
        let (meterX, meterY) = (center - meter.width / 2, height * 0.68)
        let radius = meter.height / 2
        script.add(
            .rectangle(width: meter.width, height: meter.height, radius: radius),
            x: meterX,
            y: meterY,
            color: .white.withOpacity(45)
        )
        let filled = meter.width * share(ofLevel: level)
        if filled >= meter.height {
            script.add(
                .rectangle(width: filled, height: meter.height, radius: radius),
                x: meterX,
                y: meterY,
                color: .accent
            )
        }
        return script
    }
}
