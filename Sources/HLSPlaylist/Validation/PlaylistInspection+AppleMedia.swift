import MediaTiming
import ResourceAddressing

/// Apple's rules for media playlists.
extension PlaylistInspection {
    func inspectAppleMedia() {
        inspectAppleDurations()
        inspectAppleLive()
        inspectAppleParts()
        if has(.endList), !has(.playlistType), integer(.mediaSequence) ?? 0 == 0 {
            note(.appleMissingPlaylistType, line: nil)
        }
        if let segment = segments.first(where: { address($0.line)?.lowercased().hasPrefix("http:") == true }) {
            note(.appleSegmentWithoutTLS, segment.line)
        }
        inspectAppleKeys()
    }

    private func inspectAppleDurations() {
        guard let target = integer(.targetDuration) else { return }
        let most = MediaTime(seconds: target) + MediaTime(value: 1, timescale: 2)
        for segment in segments {
            if let duration = segment.duration, duration > most { note(.appleLongerThanTarget, segment.line) }
        }
        let isWebVTT = segments.contains { segment in
            guard let address = address(segment.line), address.contains("vtt") else { return false }
            let path = ResourceAddress(address).path
            return path.hasSuffix(".vtt") || path.hasSuffix(".webvtt")
        }
        guard !isWebVTT, !has(.iFramesOnly) else { return }
        guard target == 6 else {
            note(.appleTargetDuration, first(.targetDuration))
            return
        }
        // The last segment contains the remainder and may be shorter.
        let whole = segments.dropLast()
        let total = whole.reduce(MediaTime.zero) { $0 + ($1.duration ?? .zero) }
        if whole.count > 1, total < MediaTime(seconds: 5 *| Int64(whole.count)) {
            note(.appleSegmentDuration, line: nil)
        }
    }

    private func inspectAppleLive() {
        guard !has(.endList), !has(.playlistType) else { return }
        if has(.discontinuity), !has(.discontinuitySequence) {
            note(.appleLiveWithoutDiscontinuitySequence, first(.discontinuity))
        }
        guard !has(.skip) else { return }
        if !segments.isEmpty, !has(.programDateTime) { note(.appleLiveWithoutDate, line: nil) }
        // A stream that has just started has fewer segments.
        guard integer(.mediaSequence) ?? 0 > 0 else { return }
        if segments.count < 6 {
            note(.appleLiveWindowShort, line: nil)
        } else if totalDuration < MediaTime(seconds: 15 * 60) {
            note(.appleLiveWindow, line: nil)
        }
    }

    /// Checks low-latency streaming and delta updates.
    private func inspectAppleParts() {
        let control = first(.serverControl)
        let offers = control.map { attributes($0) }
        if let information = first(.partInformation), let target = attributes(information).decimal("PART-TARGET") {
            if target != MediaTime(seconds: 1) { note(.applePartTarget, information) }
            if let holdBack = offers?.decimal("PART-HOLD-BACK"), holdBack < target + target + target {
                note(.applePartHoldBack, control)
            }
            if !has(.endList), offers?.has("CAN-SKIP-UNTIL") != true, totalDuration > MediaTime(seconds: 120) {
                note(.appleNoDeltaUpdates, information)
            }
        }
        if let offers, offers.has("CAN-SKIP-UNTIL"), offers["CAN-SKIP-DATERANGES"] != "YES", has(.dateRange) {
            note(.appleNoDateRangeSkip, control)
        }
    }

    /// Checks FairPlay keys, and encryption methods that Apple's players do not support.
    func inspectAppleKeys() {
        for line in lines where line.tag == .key || line.tag == .sessionKey {
            let key = attributes(line)
            guard let method = key["METHOD"], method != "NONE" else { continue }
            let isFairPlay = key["KEYFORMAT"] == "com.apple.streamingkeydelivery"
            if method == "SAMPLE-AES-CTR" {
                note(.appleSampleAESCTR, line)
            } else if isFairPlay, method != "SAMPLE-AES" {
                note(.appleFairPlayMethod, line)
            }
            if !isFairPlay, key["URI"]?.lowercased().hasPrefix("skd:") == true {
                note(.appleFairPlayKeyFormat, line)
            }
            if isFairPlay, key.has("IV") { note(.appleFairPlayIV, line) }
        }
    }
}
