import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing

/// A playlist formatted as tables for people.
struct PlaylistTable {
    let text: TerminalText

    init(_ playlist: Playlist) {
        var lines: [TerminalText] = []
        if !playlist.beginsWithHeader {
            lines.append("#EXTM3U is missing at the beginning: players must not accept this as a playlist")
        }
        if let address = playlist.context.address { lines.append("\(address.withoutUserInformation.text)") }
        switch playlist {
        case .multivariant(let playlist): lines += Self.lines(of: playlist)
        case .media(let playlist): lines += Self.lines(of: playlist)
        }
        lines += Self.unknownTags(of: playlist)
        let diagnostics = playlist.diagnostics.filter { $0.severity != .note }
        if !diagnostics.isEmpty {
            lines.append("")
            lines += diagnostics.map { diagnostic in
                let position: TerminalText = diagnostic.line.map { "line \($0): " } ?? ""
                return "\(diagnostic.severity.rawValue): \(position)\(diagnostic.message) "
                    + "[\(diagnostic.code), section \(diagnostic.section)]"
            }
        }
        text = lines.joined(separator: "\n")
    }

    private static func lines(of playlist: MultivariantPlaylist) -> [TerminalText] {
        var lines = ["multivariant playlist" + version(playlist.declaredVersion)]
        lines.append("")
        lines += TextTable.lines(
            header: ["variant", "bit rate", "average", "size", "frame rate", "codecs", "groups"],
            rows: playlist.variants.map { row($0) }
        )
        if !playlist.iFrameVariants.isEmpty {
            lines.append("")
            lines += TextTable.lines(
                header: ["I-frame variant", "bit rate", "average", "size", "frame rate", "codecs", "groups"],
                rows: playlist.iFrameVariants.map { row($0) }
            )
        }
        if !playlist.renditions.isEmpty {
            lines.append("")
            lines += TextTable.lines(
                header: ["rendition", "type", "group", "language", "flags", "URI"],
                rows: playlist.renditions.map { rendition in
                    let flags = [
                        rendition.isDefault ? "default" : nil, rendition.isAutoselect ? "autoselect" : nil,
                        rendition.isForced ? "forced" : nil,
                    ].compactMap { $0 }.joined(separator: " ")
                    return [
                        rendition.name, rendition.type?.rawValue.lowercased() ?? "unknown", rendition.groupID,
                        rendition.language ?? "", flags, rendition.uri ?? "in the segments of the variant",
                    ]
                }
            )
        }
        return lines + session(of: playlist)
    }

    /// Returns the rows about the session: variables, session data, keys, content steering and the start.
    private static func session(of playlist: MultivariantPlaylist) -> [TerminalText] {
        var rows = playlist.variables.sorted { $0.key < $1.key }.map { ["variable", $0.key, $0.value] }
        rows += playlist.sessionData.map { ["data", $0.dataID, $0.value ?? $0.uri ?? ""] }
        rows += playlist.sessionKeys.map { ["key", $0.method.rawValue, $0.uri ?? ""] }
        if let steering = playlist.contentSteering {
            rows.append(["steering", steering.pathwayID ?? "", steering.serverURI])
        }
        if let start = playlist.start {
            rows.append(["start", start.isPrecise ? "precise" : "", QuantityText.seconds(start.offset)])
        }
        return rows.isEmpty ? [] : [""] + TextTable.lines(header: ["session", "name", "value"], rows: rows)
    }

    /// Returns the tags that are not defined by the standard, with their number of occurrences.
    private static func unknownTags(of playlist: Playlist) -> [TerminalText] {
        let tags: [UnknownTag] =
            switch playlist {
            case .multivariant(let playlist): playlist.unknownTags
            case .media(let playlist): playlist.unknownTags
            }
        guard !tags.isEmpty else { return [] }
        let names = Dictionary(grouping: tags, by: \.name).sorted { $0.value[0].line < $1.value[0].line }
        return [""]
            + TextTable.lines(
                header: ["unknown tag", "count", "first line"],
                rows: names.prefix(20).map { [$0.key, "\($0.value.count)", "\($0.value[0].line)"] }
            )
    }

    private static func row(_ variant: Variant) -> [String] {
        let groups = Rendition.MediaType.allCases.compactMap { type in
            variant.groupID(type).map { "\(type.rawValue.lowercased())=\($0)" }
        }
        return [
            variant.uri, variant.bandwidth?.description ?? "missing", variant.averageBandwidth?.description ?? "",
            variant.resolution?.description ?? "", variant.frameRate?.description ?? "",
            variant.codecs.joined(separator: ","), groups.joined(separator: " "),
        ]
    }

    private static func lines(of playlist: MediaPlaylist) -> [TerminalText] {
        let kind = playlist.isLive ? "live" : playlist.playlistType == .event ? "event, ended" : "on demand"
        var lines = ["media playlist, \(kind)" + version(playlist.declaredVersion)]
        let target = playlist.targetDuration.map { "target \(QuantityText.seconds($0))" } ?? "no target duration"
        lines.append(
            "\(QuantityText.count(playlist.segments.count, "segment")), \(QuantityText.preciseClock(playlist.duration)), \(target), "
                + "media sequence number \(playlist.mediaSequence)"
        )
        lines.append("")
        lines += TextTable.lines(
            header: ["number", "start", "duration", "URI", "byte range", "notes"],
            rows: shown(playlist.segments).map { position in
                guard let position else { return ["…", "", "", "", "", ""] }
                let segment = playlist.segments[position]
                return [
                    "\(segment.sequence)", QuantityText.preciseClock(segment.start),
                    QuantityText.seconds(segment.duration),
                    segment.uri,
                    segment.byteRange?.description ?? "", notes(segment),
                ]
            }
        )
        return lines + liveDelivery(of: playlist) + dateRanges(of: playlist)
    }

    /// Returns the rows about live delivery: skipped segments, parts, preload hints, rendition reports and server
    /// control.
    private static func liveDelivery(of playlist: MediaPlaylist) -> [TerminalText] {
        var rows: [[String]] = []
        if playlist.skippedSegmentCount > 0 {
            rows.append(["skipped", QuantityText.count(playlist.skippedSegmentCount, "segment")])
        }
        if let target = playlist.partTargetDuration {
            rows.append(["part target duration", QuantityText.seconds(target)])
        }
        if !playlist.trailingParts.isEmpty {
            rows.append(["next segment", "\(QuantityText.count(playlist.trailingParts.count, "part")) available"])
        }
        rows += playlist.preloadHints.map { ["announced", "\($0.type.lowercased()) \($0.uri)"] }
        rows += playlist.renditionReports.map { report in
            let number = report.lastMediaSequence.map { ", last media sequence number \($0)" } ?? ""
            return ["rendition report", report.uri + number]
        }
        if let control = playlist.serverControl {
            let offers = [
                control.canBlockReload ? "blocking reload" : nil,
                control.canSkipUntil.map { "delta updates up to \(QuantityText.seconds($0))" },
                control.partHoldBack.map { "part hold-back \(QuantityText.seconds($0))" },
                control.holdBack.map { "hold-back \(QuantityText.seconds($0))" },
            ].compactMap { $0 }
            rows.append(["server", offers.joined(separator: ", ")])
        }
        return rows.isEmpty ? [] : [""] + TextTable.lines(header: ["live", ""], rows: rows)
    }

    private static func dateRanges(of playlist: MediaPlaylist) -> [TerminalText] {
        let ranges = playlist.dateRanges
        guard !ranges.isEmpty else { return [] }
        let rows = ranges.prefix(40).map { range in
            let what = range.interstitial.map { $0.assetAddress?.text ?? $0.assetListAddress?.text ?? "" } ?? ""
            return [
                range.id, range.classIdentifier ?? "", range.startDate?.description ?? "",
                (range.duration ?? range.plannedDuration).map(QuantityText.seconds) ?? "",
                range.cues.map { $0.rawValue.lowercased() }.joined(separator: " "), what,
            ]
        }
        let rest: [TerminalText] = ranges.count > rows.count ? ["… and \(ranges.count - rows.count) more"] : []
        return [""] + TextTable.lines(header: ["date range", "class", "start", "duration", "cue", "asset"], rows: rows)
            + rest
    }

    /// Returns all indices of a short list; for a long list those at its beginning and end, with `nil` for the omitted
    /// ones.
    private static func shown(_ segments: MediaSegments) -> [Int?] {
        guard segments.count > 40 else { return segments.indices.map { $0 } }
        return Array(0..<20).map { $0 } + [nil] + Array((segments.count - 10)..<segments.count).map { $0 }
    }

    private static func notes(_ segment: MediaSegment) -> String {
        var notes: [String] = []
        if segment.hasDiscontinuity { notes.append("discontinuity") }
        if segment.isGap { notes.append("gap") }
        notes += segment.keys.map(\.method.rawValue)
        if let map = segment.map { notes.append("map \(map.uri)") }
        if segment.hasOwnProgramDateTime, let date = segment.programDateTime { notes.append("\(date)") }
        if !segment.parts.isEmpty { notes.append(QuantityText.count(segment.parts.count, "part")) }
        return notes.joined(separator: ", ")
    }

    private static func version(_ version: Int?) -> TerminalText { version.map { ", version \($0)" } ?? "" }
}
