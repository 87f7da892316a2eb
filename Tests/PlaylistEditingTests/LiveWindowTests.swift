import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Follows edits with an end over the versions of a live playlist.
@Suite struct LiveWindowTests {
    /// Returns the edited versions of a playlist, whose breaks are continued.
    private func edited(_ edits: [PlaylistEdit], _ versions: [MediaPlaylist]) throws -> [MediaPlaylist] {
        let advertisement = try MediaPlaylist.advertisement(["8", "4", "6"], tags: [2: "#EXT-X-DISCONTINUITY\n"])
        var timelines = BreakTimelines()
        var result: [MediaPlaylist] = []
        for version in versions {
            let edit = PreparedEdit(
                plan: EditPlan(edits),
                input: .media(version, sources: ["ad.m3u8": advertisement]),
                limits: PlaylistLimits(),
                date: nil
            )
            guard case .media(let playlist) = try edit.apply(continuing: &timelines) else { throw CancellationError() }
            result.append(playlist)
        }
        return result
    }

    /// Returns edits that are spelled `name=value`, in which `RULE` stands for a rule of breaks.
    private func edits(_ texts: [String], at rule: BreakRule = .cues) throws -> [PlaylistEdit] {
        try texts.map { text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count > 1 else { return .replaceBreaks(with: "ad.m3u8", at: rule) }
            return try PlaylistEdit(name: parts[0], value: parts[1])
        }
    }

    /// Checks that no segment changes or is skipped, and that no number goes back (RFC 8216bis §6.2.2).
    private func expectConsistent(_ versions: [MediaPlaylist], _ note: Comment) {
        var known: [Int64: [String]] = [:]
        var start: (media: Int64, discontinuity: Int64, end: Int64)?
        for version in versions {
            #expect(version.isLive && !version.segments.isEmpty, note)
            let end = version.mediaSequence + Int64(version.segments.count)
            if let start {
                #expect(version.mediaSequence >= start.media && version.mediaSequence <= start.end, note)
                #expect(version.discontinuitySequence >= start.discontinuity && end >= start.end, note)
            }
            start = (version.mediaSequence, version.discontinuitySequence, end)
            for segment in version.segments {
                let value = [
                    segment.address.text, "\(segment.duration)", "\(segment.discontinuitySequence)",
                    segment.programDateTime.map { "\($0)" } ?? "", "\(segment.hasDiscontinuity)",
                ]
                #expect(known[segment.sequence] ?? value == value, note)
                known[segment.sequence] = value
            }
        }
    }

    /// A window is at the start of each version, so that segments are added to it as the first one is removed.
    @Test(arguments: [
        (["duration=20"], ["0 1 2", "0 1 2", "1 2 3", "2 3 4"]), (["trim=6...18"], ["1 2", "1 2", "2 3", "3 4"]),
        (["start=6", "duration=12"], ["1 2", "1 2", "2 3", "3 4"]),
        (["trim=12..."], ["2", "2 3 4", "3 4 5 6", "4 5 6 7"]),
        (["duration=100"], ["0 1 2", "0 1 2 3 4", "1 2 3 4 5 6", "2 3 4 5 6 7"]),
    ])
    func windowMovesWithTheSource(texts: [String], expected: [String]) throws {
        let stream = BreakStream(count: 14)
        let versions = try [3, 5, 7, 8].map { try stream.version(endingAt: $0) }
        let results = try edited(edits(texts), versions)
        expectConsistent(results, "\(texts)")
        #expect(results.map(\.segmentNames) == expected)
        for result in results {
            #expect(result.targetDuration == MediaTime(seconds: 6))
            #expect(result.segments.allSatisfy { $0.uri == "\($0.sequence).ts" })
        }
    }

    @Test func windowOfAnEndedPlaylistEnds() throws {
        let ended = try BreakStream(count: 14).version(endingAt: 10, ended: true)
        let result = try #require(try edited([.duration(MediaTime(seconds: 20))], [ended]).first)
        #expect(result.hasEndMarker && result.segmentNames == "4 5 6")
    }

    /// The tags of low latency concern the end of the source, which is not that of the window.
    @Test(arguments: ["duration=8", "duration=99", "trim=0...8", "trim=4...99"])
    func windowHasNoTagsOfLowLatency(edit: String) throws {
        let result = try #require(try edited(edits([edit]), [EditSample.live.media()]).first)
        #expect(result.isLive && result.serverControl == nil)
        for tag in ["PART", "PRELOAD-HINT", "RENDITION-REPORT", "SERVER-CONTROL"] {
            #expect(!result.editedText.contains("#EXT-X-\(tag)"), "\(tag)")
        }
        // An edit without an end leaves that of the source.
        let open = try #require(try edited(edits(["trim=4..."]), [EditSample.live.media()]).first)
        #expect(open.serverControl?.canBlockReload == true && open.editedText.contains("#EXT-X-PRELOAD-HINT"))
    }

    /// A break would otherwise seem to begin later, and to be as long as before.
    @Test func announcementOfABreakIsRemovedWithItsSegment() throws {
        let stream = BreakStream(count: 6, [0: "#EXT-X-CUE-OUT:18\n", 3: "#EXT-X-CUE-IN\n"])
        for ended in [false, true] {
            let result = try #require(try edited(edits(["start=6"]), [stream.version(endingAt: 6, ended: ended)]).first)
            #expect(result.segmentNames == "1 2 3 4 5")
            #expect(!result.editedText.contains("CUE-OUT") && result.editedText.contains("#EXT-X-CUE-IN"))
        }
    }

    /// Breaks are replaced before or after a playlist is shortened, with the same consistency of numbers.
    @Test(arguments: [
        ["duration=20", "RULE"], ["RULE", "duration=20"], ["trim=6...24", "RULE"], ["RULE", "trim=6...24"],
        ["start=6", "RULE", "duration=20"], ["duration=30", "RULE", "duration=20"],
    ])
    func breaksOfAWindowAreReplaced(texts: [String]) throws {
        let range =
            "#EXT-X-DATERANGE:ID=\"x\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:48Z\",PLANNED-DURATION=18\n"
        let cues = [8: "#EXT-X-CUE-OUT:18\n", 11: "#EXT-X-CUE-IN\n", 15: "#EXT-X-CUE-OUT:12\n"]
        var dateless = BreakStream(count: 26, cues)
        dateless.hasDates = false
        let cases: [(BreakStream, BreakRule)] = [
            (BreakStream(count: 26, cues), .cues), (dateless, .cues),
            (BreakStream(count: 26, [8: range]), .dateRanges(classIdentifier: "ad")),
            (BreakStream(count: 26), .every(MediaTime(seconds: 60))),
        ]
        for (stream, rule) in cases {
            let versions = try (6...26).map { try stream.version(endingAt: $0) }
            let results = try edited(edits(texts, at: rule), versions)
            expectConsistent(results, "\(texts) \(rule) \(stream.hasDates)")
            // The whole advertisement was played, and the program after it.
            let segments = results.flatMap { Array($0.segments) }
            let names = Set(segments.map { String($0.uri.split(separator: "/").last ?? "") })
            #expect(names.isSuperset(of: ["a0.ts", "a1.ts", "a2.ts", "7.ts", "14.ts"]), "\(texts) \(rule)")
        }
    }
}
