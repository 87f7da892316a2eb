import MediaTiming

/// The rules for media playlists as a whole (RFC 8216bis §4.4.2, §4.4.3, §4.4.5, §6.2).
extension PlaylistInspection {
    var hasEnd: Bool { has(.endList) }

    /// The target duration, or `nil` if it is missing, invalid or zero.
    var target: MediaTime? { integer(.targetDuration).flatMap { $0 > 0 ? MediaTime(seconds: $0) : nil } }

    /// The value of `EXT-X-PLAYLIST-TYPE` as written.
    var playlistType: String? { first(.playlistType).map { text($0.value) } }

    /// The sum of the valid durations of all segments.
    var totalDuration: MediaTime { segments.reduce(.zero) { $0 + ($1.duration ?? .zero) } }

    func inspectMedia() {
        inspectSegments()
        inspectKindOfPlaylist()
        inspectStart()
        inspectServerControl()
        inspectParts()
        inspectHints()
        inspectSkip()
        inspectLiveWindow()
        inspectDateRanges()
    }

    private func inspectKindOfPlaylist() {
        if let line = first(.targetDuration) {
            if integer(line) == 0 { note(.targetDurationZero, line) }
        } else if lines.contains(where: { $0.tag?.scope.isMediaOnly ?? false }) {
            note(.missingTargetDuration, line: nil)
        } else if !lines.contains(where: { $0.tag == nil }) {
            // Without URIs and tags of one kind, the playlist is empty, whatever its kind (§4.1).
            note(.missingTargetDuration, line: nil, "(and a multivariant playlist EXT-X-STREAM-INF)")
        }
        guard let line = first(.playlistType), !line.isMalformed, let type = playlistType else { return }
        if type == "VOD", !hasEnd { note(.vodWithoutEndList, line) }
    }

    private func inspectStart() {
        guard let line = first(.start), let offset = attributes(line).decimal("TIME-OFFSET"), !has(.skip),
            !segments.isEmpty
        else { return }
        let whole = trailingParts.reduce(totalDuration) { $0 + (attributes($1).decimal("DURATION") ?? .zero) }
        let distance = offset < .zero ? .zero - offset : whole - offset
        if (offset < .zero ? .zero - offset : offset) > whole {
            note(.startBeyondEnd, line)
        } else if !hasEnd, let target, distance < target * 3 {
            note(.startNearLiveEdge, line)
        }
    }

    private func inspectServerControl() {
        let control = first(.serverControl).map { ($0, attributes($0)) }
        if let (line, attributes) = control {
            if let target {
                if let value = attributes.decimal("CAN-SKIP-UNTIL"), value < target * 6 {
                    note(.skipBoundaryTooShort, line)
                }
                if let value = attributes.decimal("HOLD-BACK"), value < target * 3 { note(.holdBackTooShort, line) }
            }
            if attributes["CAN-SKIP-DATERANGES"] == "YES", !attributes.has("CAN-SKIP-UNTIL") {
                note(.skipDateRangesWithoutBoundary, line)
            }
        }
        guard let information = first(.partInformation) else { return }
        guard let (line, attributes) = control, attributes.has("PART-HOLD-BACK") else {
            note(.missingPartHoldBack, information)
            return
        }
        guard let value = attributes.decimal("PART-HOLD-BACK"), let target = partTarget else { return }
        if value < target * 2 {
            note(.partHoldBackTooShort, line)
        } else if value < target * 3 {
            note(.partHoldBackShort, line)
        }
    }

    private func inspectSkip() {
        guard let skip = first(.skip) else { return }
        let boundary = first(.serverControl).map { attributes($0) }
        if boundary?.has("CAN-SKIP-UNTIL") != true { note(.skipWithoutServerControl, skip) }
        if hasEnd { note(.skipWithEndList, skip) }
        // Rounding of the target duration accounts for up to half a second.
        if let until = boundary?.decimal("CAN-SKIP-UNTIL"), let target,
            totalDuration < until - target - MediaTime(value: 1, timescale: 2)
        {
            note(.skipTooMuch, skip)
        }
    }

    private func inspectLiveWindow() {
        guard !hasEnd, first(.playlistType) == nil, !has(.skip), let sequence = first(.mediaSequence),
            (integer(sequence) ?? 0) > 0
        else { return }
        let slack = MediaTime(value: 1, timescale: 2) * Int64(segments.count)
        if let target, totalDuration + slack < target * 3 { note(.livePlaylistShort, sequence) }
        if let discontinuity = first(.discontinuity), !has(.discontinuitySequence) {
            note(.discontinuityWithoutSequence, discontinuity)
        }
    }
}
