import MediaTiming
import ResourceAddressing

/// Apple's rules for media playlists.
extension PlaylistInspection {
    func inspectAppleMedia() {
        inspectAppleDurations()
        inspectAppleLive()
        inspectAppleParts()
        if has(.endList), !has(.playlistType), integer(.mediaSequence) ?? 0 == 0 {
            note("apple-missing-playlist-type", line: nil)
        }
        if let segment = segments.first(where: { address($0.line)?.lowercased().hasPrefix("http:") == true }) {
            note("apple-segment-without-tls", segment.line)
        }
        inspectAppleKeys()
    }

    private func inspectAppleDurations() {
        guard let target = integer(.targetDuration) else { return }
        let most = MediaTime(seconds: target) + MediaTime(value: 1, timescale: 2)
        for segment in segments {
            if let duration = segment.duration, duration > most { note("apple-longer-than-target", segment.line) }
        }
        let isWebVTT = segments.contains { segment in
            guard let address = address(segment.line), address.contains("vtt") else { return false }
            let path = ResourceAddress(address).path
            return path.hasSuffix(".vtt") || path.hasSuffix(".webvtt")
        }
        guard !isWebVTT, !has(.iFramesOnly) else { return }
        guard target == 6 else {
            note("apple-target-duration", first(.targetDuration))
            return
        }
        // The last segment contains the remainder and may be shorter.
        let whole = segments.dropLast()
        let total = whole.reduce(MediaTime.zero) { $0 + ($1.duration ?? .zero) }
        if whole.count > 1, total < MediaTime(seconds: 5 *| Int64(whole.count)) {
            note("apple-segment-duration", line: nil)
        }
    }

    private func inspectAppleLive() {
        guard !has(.endList), !has(.playlistType) else { return }
        if has(.discontinuity), !has(.discontinuitySequence) {
            note("apple-live-without-discontinuity-sequence", first(.discontinuity))
        }
        guard !has(.skip) else { return }
        if !segments.isEmpty, !has(.programDateTime) { note("apple-live-without-date", line: nil) }
        // A stream that has just started has fewer segments.
        guard integer(.mediaSequence) ?? 0 > 0 else { return }
        if segments.count < 6 {
            note("apple-live-window-short", line: nil)
        } else if totalDuration < MediaTime(seconds: 15 * 60) {
            note("apple-live-window", line: nil)
        }
    }

    /// Checks low-latency streaming and delta updates.
    private func inspectAppleParts() {
        let control = first(.serverControl)
        let offers = control.map { attributes($0) }
        if let information = first(.partInformation), let target = attributes(information).decimal("PART-TARGET") {
            if target != MediaTime(seconds: 1) { note("apple-part-target", information) }
            if let holdBack = offers?.decimal("PART-HOLD-BACK"), holdBack < target + target + target {
                note("apple-part-hold-back", control)
            }
            if !has(.endList), offers?.has("CAN-SKIP-UNTIL") != true, totalDuration > MediaTime(seconds: 120) {
                note("apple-no-delta-updates", information)
            }
        }
        if let offers, offers.has("CAN-SKIP-UNTIL"), offers["CAN-SKIP-DATERANGES"] != "YES", has(.dateRange) {
            note("apple-no-date-range-skip", control)
        }
    }

    /// Checks FairPlay keys, and encryption methods that Apple's players do not support.
    func inspectAppleKeys() {
        for line in lines where line.tag == .key || line.tag == .sessionKey {
            let key = attributes(line)
            guard let method = key["METHOD"], method != "NONE" else { continue }
            let isFairPlay = key["KEYFORMAT"] == "com.apple.streamingkeydelivery"
            if method == "SAMPLE-AES-CTR" {
                note("apple-sample-aes-ctr", line)
            } else if isFairPlay, method != "SAMPLE-AES" {
                note("apple-fairplay-method", line)
            }
            if !isFairPlay, key["URI"]?.lowercased().hasPrefix("skd:") == true {
                note("apple-fairplay-key-format", line)
            }
            if isFairPlay, key.has("IV") { note("apple-fairplay-iv", line) }
        }
    }
}
