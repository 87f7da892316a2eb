import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests of playlists that cannot be stitched, and of the sources that entries of a presentation are stitched with.
@Suite struct StitchConditionTests {
    private func media(_ text: String, at address: String? = nil) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: address.map { ResourceAddress($0) })
        )
    }

    private func reason(_ edit: () throws -> MediaPlaylist) -> String? {
        do {
            _ = try edit()
            return nil
        } catch PlaylistEditError.cannotStitch(let reason) {
            return reason
        } catch {
            return "another error: \(error)"
        }
    }

    @Test func everyStitchingErrorHasItsReason() throws {
        let plain = try EditSample.plain.media()
        let live = try EditSample.live.media()
        let iFrames = try EditSample.iFrames.media()
        let empty = try media("#EXTM3U\n#EXT-X-ENDLIST\n")
        let delta = try media("#EXTM3U\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n#EXTINF:4,\na\n#EXTINF:4,\nb\n#EXT-X-ENDLIST\n")
        let other = "the other playlist has no segments"
        let kinds = "one playlist contains I-frames only and the other does not"
        #expect(reason { try plain.appending(empty) } == other)
        #expect(reason { try plain.appending(iFrames) } == kinds)
        #expect(reason { try iFrames.prepending(plain) } == kinds)
        #expect(reason { try iFrames.prepending(iFrames) } == nil)
        #expect(reason { try live.appending(plain) } == "nothing can be appended to a live playlist")
        let sliding =
            "a live playlist without EXT-X-PLAYLIST-TYPE has no fixed times; replace-breaks and interstitials edit it by rule"
        #expect(reason { try live.prepending(plain) } == sliding)
        #expect(reason { try live.inserting(plain, at: MediaTime(seconds: 9)) } == sliding)
        // The segment boundary closest to eleven seconds is the end.
        #expect(
            reason { try live.inserting(plain, at: MediaTime(seconds: 11)) }
                == "nothing can be appended to a live playlist"
        )
        #expect(reason { try empty.appending(plain) } == "the playlist has no segments")
        let skipped = "the playlist is a delta update; load the full playlist"
        #expect(reason { try delta.appending(plain) } == skipped)
        #expect(reason { try delta.limited(to: MediaTime(seconds: 4)) } == skipped)
        // An edit that removes nothing does not require a complete playlist.
        #expect(try delta.limited(to: MediaTime(seconds: 8)).bytes == delta.bytes)
        #expect(try delta.dropped(before: MediaTime(seconds: 3)).bytes == delta.bytes)
    }

    /// No tag removes a map, so that segments without one can only come first.
    @Test func mapThatCannotEndNamesBothPlaylists() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
        let transport = try media(text + "#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n", at: "https://h/ts/a.m3u8")
        let map = "#EXT-X-MAP:URI=\"i.mp4\"\n"
        let movie = try media(text + map + "#EXTINF:4,\nb.m4s\n#EXT-X-ENDLIST\n", at: "https://h/mp4/b.m3u8")
        let expected = PlaylistEditError.mapCannotEnd(at: transport.context.address, after: movie.context.address)
        #expect(throws: expected) { try movie.appending(transport) }
        #expect(throws: expected) { try transport.prepending(movie) }
        #expect(expected.code == .cannotStitch && expected.hint?.contains("the same format") == true)
        #expect(try movie.prepending(transport).segments.count == 2)
        #expect(try transport.appending(movie).segments.count == 2)
    }

    /// `EXT-X-ENDLIST` may be anywhere in a playlist (RFC 8216bis §4.4.3.4).
    @Test(arguments: [
        "#EXT-X-ENDLIST\n#EXTINF:4,\na\n#EXTINF:4,\nb\n", "#EXTINF:4,\na\n#EXT-X-ENDLIST\n#EXTINF:4,\nb\n",
    ])
    func endMarkerBeforeSegmentsIsKept(lines: String) throws {
        let ended = try media("#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + lines)
        let guest = try EditSample.openEnd.media()
        let four = MediaTime(seconds: 4)
        for edited in [
            try ended.dropped(before: four), try ended.limited(to: four), try ended.prepending(guest),
            try ended.inserting(guest, at: four), try ended.dropping(MediaTimeRange(start: .zero, end: four)),
        ] {
            #expect(edited.hasEndMarker && !edited.isLive)
            #expect(String(decoding: edited.bytes, as: UTF8.self).hasSuffix("\n#EXT-X-ENDLIST\n"))
        }
    }

    @Test func timeOutsidePlaylistIsReported() throws {
        let plain = try EditSample.plain.media()
        let ad = try EditSample.advertisement.media()
        let late = try #require(MediaTime(decimal: "13.501"))
        #expect(throws: PlaylistEditError.timeOutside(edit: "insert", time: "13.501", duration: "13.5")) {
            try plain.inserting(ad, at: late)
        }
        #expect(throws: PlaylistEditError.timeOutside(edit: "insert", time: "-0.001", duration: "13.5")) {
            try plain.inserting(ad, at: MediaTime(value: -1, timescale: 1_000))
        }
        #expect(throws: PlaylistEditError.timeOutside(edit: "start", time: "13.501", duration: "13.5")) {
            try plain.dropped(before: late)
        }
        let end = try #require(MediaTime(decimal: "13.5"))
        #expect(try plain.inserting(ad, at: end).bytes == plain.appending(ad).bytes)
        #expect(throws: PlaylistEditError.timeOutside(edit: "start", time: "13.5", duration: "13.5")) {
            try plain.dropped(before: end)
        }
    }

    @Test func insertionUsesNearestSegmentBoundary() throws {
        let plain = try EditSample.plain.media()
        let ad = try EditSample.fast.media()
        let positions = try ["0", "2", "2.001", "5.75", "5.751", "12.5", "12.501"].map { time in
            try plain.inserting(ad, at: try #require(MediaTime(decimal: time))).segments.map(\.uri).firstIndex(of: "f0")
        }
        #expect(positions == [0, 0, 1, 1, 2, 3, 4])
    }

    @Test func droppedRangeRemovesSegmentsInsideIt() throws {
        let plain = try EditSample.plain.media()
        func left(_ start: String, _ end: String) throws -> [String] {
            let range = MediaTimeRange(
                start: try #require(MediaTime(decimal: start)),
                end: try #require(MediaTime(decimal: end))
            )
            return try plain.dropping(range).segments.map(\.uri)
        }
        #expect(try left("4", "7.5") == ["0.ts", "2.ts", "3.ts"])
        #expect(try left("0", "4") == ["1.ts", "2.ts", "3.ts"])
        #expect(try left("3.999", "12") == ["0.ts", "3.ts"])
        #expect(try left("4", "99") == ["0.ts"])
        for (start, end) in [("4", "7.499"), ("4.001", "7.5"), ("12", "12")] {
            let error = #expect(throws: PlaylistEditError.self) { try left(start, end) }
            #expect(error?.code == .nothingLeft)
            #expect(
                error?.description.hasSuffix("would remove everything; the playlist has no entire segment in the range")
                    == true
            )
        }
        #expect(throws: PlaylistEditError.self) { try left("0", "13.5") }
    }

    @Test func childPlansContainMediaEdits() throws {
        let content = try EditSample.ladder.multivariant()
        let other = try EditSample.audioOnly.multivariant()
        let plan = EditPlan([
            .noIFrames, .append("ad"), .start(.zero), .insert("ad", at: MediaTime(seconds: 1)), .prepend("other"),
            .absolute,
        ])
        #expect(plan.sources == ["ad", "ad", "other"])
        #expect(plan.changesMedia && !EditPlan([.noIFrames, .maxHeight(1)]).changesMedia && !EditPlan([]).changesMedia)
        let sources: [String: Playlist] = ["ad": .multivariant(other), "other": .media(try EditSample.plain.media())]
        let children = plan.childPlans(sources: sources, gaps: ["ad": "gap:4", "other": "gap:5"])
        func spelled(_ entry: PresentationEntry) throws -> [String] {
            try children.plan(for: entry).edits.map { "\($0.nameAndValue.name)=\($0.nameAndValue.value)" }
        }
        let variant = ["append=x.m3u8", "start=0", "insert=x.m3u8@1", "prepend=other", "absolute="]
        #expect(try spelled(.variant(content.variants[0])) == variant.map { $0.replacing("x.m3u8", with: "y.m3u8") })
        #expect(try spelled(.variant(content.variants[3])) == variant)
        let gap = variant.map { $0.replacing("x.m3u8", with: "gap:4") }
        #expect(try spelled(.variant(content.iFrameVariants[0])) == gap)
        // A media playlist has no subtitles of its own.
        let subtitles = gap.map { $0.replacing("prepend=other", with: "prepend=gap:5") }
        #expect(try spelled(.rendition(content.renditions[2])) == subtitles)
        #expect(try spelled(.rendition(content.renditions[0])) == variant)
        let without = plan.childPlans(sources: sources)
        #expect(
            throws: PlaylistEditError.cannotStitch(reason: "ad has no match for the rendition Deutsch")
        ) { try without.plan(for: .rendition(content.renditions[2])) }
        #expect(throws: PlaylistEditError.cannotStitch(reason: "ad has no match for i360.m3u8")) {
            try without.plan(for: .variant(content.iFrameVariants[0]))
        }
    }

    @Test func presentationEntriesHaveNameAndAddress() throws {
        let content = try EditSample.ladder.multivariant()
        let entries: [PresentationEntry] = [
            .variant(content.variants[0]), .rendition(content.renditions[0]), .rendition(content.renditions[1]),
        ]
        #expect(entries.map(\.name) == ["low.m3u8", "the rendition English", "the rendition Muxed"])
        #expect(
            entries.map { $0.address?.text } == ["https://a.example/x/low.m3u8", "https://a.example/x/en.m3u8", nil]
        )
    }

    @Test func sourceWithoutIFramesRemovesIFrameVariants() throws {
        let content = try EditSample.ladder.multivariant()
        let plan = EditPlan([.append("o")])
        func count(_ source: Playlist) throws -> Int {
            try plan.applied(to: content, sources: ["o": source]).iFrameVariants.count
        }
        #expect(try count(.multivariant(content)) == 4)
        #expect(try count(.multivariant(EditSample.audioOnly.multivariant())) == 0)
        #expect(try count(.media(EditSample.plain.media())) == 0)
        #expect(try count(.media(EditSample.iFrames.media())) == 4)
        #expect(try plan.applied(to: content).bytes == content.bytes)
    }

    @Test func missingSourceIsReported() throws {
        let plain = try EditSample.plain.media()
        #expect(throws: PlaylistEditError.cannotStitch(reason: "ad was not loaded")) {
            try EditPlan([.append("ad")]).applied(to: plain, sources: ["other": plain])
        }
        let stitched = try EditPlan([.append("gap:5")]).applied(to: plain)
        #expect(
            stitched.segments.map(\.uri).suffix(1) == ["gap.vtt"] && stitched.targetDuration == MediaTime(seconds: 10)
        )
    }

    /// I-frame variants are removed only if the filter removes a variant.
    @Test func filterThatRemovesNothingKeepsAllBytes() throws {
        let text =
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=2x2\na\n"
            + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,RESOLUTION=4x4,URI=\"i\"\n"
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        #expect(try playlist.limited(toHeight: 2).bytes == playlist.bytes)
        #expect(try playlist.limited(toHeight: 3).bytes == playlist.bytes)
        #expect(throws: PlaylistEditError.nothingLeft(filter: "max-height 1", available: ["1 bit/s 2x2"])) {
            try playlist.limited(toHeight: 1)
        }
        let none = try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"i\"\n".utf8)
        )
        #expect(throws: PlaylistEditError.nothingLeft(filter: "max-height 1", available: ["no variant"])) {
            try none.limited(toHeight: 1)
        }
    }
}
