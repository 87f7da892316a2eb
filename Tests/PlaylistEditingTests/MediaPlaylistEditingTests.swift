import Foundation
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

@Suite struct MediaPlaylistEditingTests {
    private func playlist(_ text: String, at address: String? = nil) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: address.map { ResourceAddress($0) })
        )
    }

    private func text(_ playlist: MediaPlaylist) -> String { String(decoding: playlist.bytes, as: UTF8.self) }

    /// Six segments of four seconds; a key without an initialization vector applies from the second segment and another
    /// key from the fifth.
    private let encrypted = """
        #EXTM3U
        #EXT-X-VERSION:1
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:20
        #EXTINF:4,
        0.ts
        #EXT-X-KEY:METHOD=AES-128,URI="k1"
        #EXTINF:4,
        1.ts
        #EXTINF:4,
        2.ts
        #EXTINF:4,
        3.ts
        #EXT-X-KEY:METHOD=AES-128,URI="k2",IV=0x05
        #EXTINF:4,
        4.ts
        #EXTINF:4,
        5.ts
        #EXT-X-ENDLIST

        """

    private let plain = """
        #EXTM3U
        #EXT-X-VERSION:3
        #EXT-X-TARGETDURATION:5
        #EXTINF:4.5,
        ad0.ts
        #EXTINF:4.5,
        ad1.ts
        #EXT-X-ENDLIST

        """

    @Test func durationLimitStopsAtFirstSegmentThatDoesNotFit() throws {
        let source = try playlist("#EXTM3U\n#EXTINF:4,\na\n#EXTINF:10,\nb\n#EXTINF:1,\nc\n#EXT-X-ENDLIST\n")
        #expect(try source.limited(to: MediaTime(seconds: 6)).segments.map(\.uri) == ["a"])
        #expect(try source.limited(to: MediaTime(seconds: 14)).segments.map(\.uri) == ["a", "b"])
    }

    @Test func limitThatCutsNothingKeepsAllBytes() throws {
        let source = try playlist(encrypted)
        #expect(try source.limited(to: MediaTime(seconds: 24)).bytes == source.bytes)
        #expect(try source.dropped(before: .zero).bytes == source.bytes)
    }

    @Test func limitShorterThanFirstSegmentIsRejected() throws {
        let source = try playlist(encrypted)
        #expect(throws: PlaylistEditError.self) { try source.limited(to: MediaTime(seconds: 3)) }
    }

    @Test func cutLivePlaylistRemainsLive() throws {
        let live = try playlist("#EXTM3U\r\n#EXT-X-TARGETDURATION:4\r\n#EXTINF:4,\r\na\r\n#EXTINF:4,\r\nb\r\n")
        let cut = try live.limited(to: MediaTime(seconds: 4))
        #expect(text(cut) == "#EXTM3U\r\n#EXT-X-TARGETDURATION:4\r\n#EXTINF:4,\r\na\r\n")
        #expect(try live.limited(to: MediaTime(seconds: 8)).bytes == live.bytes)
        let range = MediaTimeRange(start: MediaTime(seconds: 4), end: MediaTime(seconds: 6))
        let trimmed = try live.trimmed(toBoundariesNear: range)
        #expect(trimmed.isLive && trimmed.mediaSequence == 1 && trimmed.segments.map(\.uri) == ["b"])
    }

    /// The first segment of an event remains, so that all segments of a range are published at some time.
    @Test func cutEventEndsOnceItsRangeIsPublished() throws {
        let range = MediaTimeRange(start: MediaTime(seconds: 4), end: MediaTime(seconds: 12))
        for (count, isEnded) in [(2, false), (3, true), (4, true)] {
            let segments = (0..<count).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
            let header = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:EVENT\n"
            let event = try playlist(header + segments)
            let limited = try event.limited(to: MediaTime(seconds: 12))
            #expect(limited.hasEndMarker == isEnded && limited.segments.count == min(count, 3), "\(count)")
            let trimmed = try event.trimmed(toBoundariesNear: range)
            #expect(trimmed.hasEndMarker == isEnded && trimmed.mediaSequence == 1, "\(count)")
            #expect(trimmed.segments.count == min(count, 3) - 1, "\(count)")
            #expect(try event.limited(to: MediaTime(seconds: 100)).bytes == event.bytes)
        }
    }

    /// The segments after a removed range are published later; a player would stop at an end marker before them.
    @Test(arguments: ["cut", "drop-range", "exclude"]) func eventGoesOnAfterARemovedRange(name: String) throws {
        let value = name == "exclude" ? "seams=4...12/0/0" : "4...12"
        for count in 2...5 {
            let segments = (0..<count).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
            let event = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:EVENT\n" + segments
            for end in ["", "#EXT-X-ENDLIST\n"] {
                let plan = EditPlan([try PlaylistEdit(name: name, value: value)])
                let edited = try plan.applied(to: try playlist(event + end))
                #expect(edited.hasEndMarker == !end.isEmpty, "\(count)")
                let remaining = [0] + (3..<max(count, 3))
                #expect(edited.segments.map(\.uri) == remaining.map { "\($0).ts" }, "\(count)")
            }
        }
        if name != "exclude" {
            let header = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:EVENT\n"
            let event = header + "#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n"
            let plan = EditPlan([try PlaylistEdit(name: name, value: "4...")])
            #expect(try plan.applied(to: try playlist(event)).hasEndMarker)
        }
    }

    @Test func droppingTheStartAdvancesMediaSequenceAndKeepsKey() throws {
        let cut = try playlist(encrypted).dropped(before: MediaTime(seconds: 9))
        #expect(cut.mediaSequence == 22 && cut.segments.map(\.uri) == ["2.ts", "3.ts", "4.ts", "5.ts"])
        #expect(cut.segments.map { $0.keys.first?.uri } == ["k1", "k1", "k2", "k2"])
        #expect(cut.segments[0].sequence == 22, "the vector of segment 2 is its number")
        #expect(!text(cut).contains("IV=0x00"))
    }

    @Test func droppingTheStartKeepsMapDateBitRateAndOffset() throws {
        let cut = try playlist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z
            #EXT-X-BITRATE:800
            #EXT-X-BYTERANGE:100@50
            #EXTINF:4,
            m.mp4
            #EXT-X-DISCONTINUITY
            #EXT-X-BYTERANGE:100
            #EXTINF:4,
            m.mp4
            #EXT-X-BYTERANGE:100
            #EXTINF:4,
            m.mp4
            #EXTINF:4,
            whole.mp4
            #EXT-X-ENDLIST

            """
        ).dropped(before: MediaTime(seconds: 8))
        let segment = try #require(cut.segments.first)
        #expect(cut.segments.last?.bitRate == BitRate(bitsPerSecond: 800_000))
        #expect(cut.mediaSequence == 2 && cut.discontinuitySequence == 1 && segment.discontinuitySequence == 1)
        #expect(segment.map?.uri == "init.mp4" && segment.bitRate == nil, "a byte range has none")
        #expect(segment.programDateTime?.description == "2024-01-01T00:00:08.000Z")
        #expect(segment.byteRange == ByteRange(start: 250, length: 100))
    }

    @Test func playlistTagsInCutLinesAreKept() throws {
        let cut = try playlist(
            "#EXTM3U\n#EXTINF:4,\na\n#EXT-X-TARGETDURATION:4\n#EXT-X-DATERANGE:ID=\"x\"\n#EXTINF:4,\nb\n#EXTINF:4,\nc\n"
        ).limited(to: MediaTime(seconds: 4))
        #expect(cut.targetDuration == MediaTime(seconds: 4) && cut.dateRanges.map(\.id) == ["x"])
    }

    @Test func prependingMakesInitializationVectorsExplicit() throws {
        let stitched = try playlist(encrypted).prepending(playlist(plain))
        #expect(stitched.segments.map(\.uri) == ["ad0.ts", "ad1.ts", "0.ts", "1.ts", "2.ts", "3.ts", "4.ts", "5.ts"])
        #expect(stitched.mediaSequence == 20 && stitched.declaredVersion == 3)
        #expect(stitched.targetDuration == MediaTime(seconds: 5))
        let vectors = stitched.segments.map { $0.keys.first?.initializationVector }
        #expect(
            vectors == [
                nil, nil, nil, "0x00000000000000000000000000000015", "0x00000000000000000000000000000016",
                "0x00000000000000000000000000000017", "0x05", "0x05",
            ]
        )
        #expect(stitched.segments.filter(\.hasDiscontinuity).map(\.position) == [2])
    }

    @Test func insertedClearSegmentsAreNotEncrypted() throws {
        let stitched = try playlist(encrypted).inserting(playlist(plain), at: MediaTime(seconds: 9))
        #expect(stitched.segments.map(\.uri) == ["0.ts", "1.ts", "ad0.ts", "ad1.ts", "2.ts", "3.ts", "4.ts", "5.ts"])
        #expect(stitched.segments.map { $0.keys.first?.uri } == [nil, "k1", nil, nil, "k1", "k1", "k2", "k2"])
        #expect(stitched.segments[4].keys.first?.initializationVector == "0x00000000000000000000000000000016")
        #expect(stitched.segments.filter(\.hasDiscontinuity).map(\.position) == [2, 4])
        #expect(stitched.hasEndMarker && text(stitched).components(separatedBy: "#EXT-X-ENDLIST").count == 2)
        #expect(text(stitched).components(separatedBy: "#EXTM3U").count == 2)
    }

    @Test func appendedEncryptedSegmentsKeepInitializationVectors() throws {
        let stitched = try playlist(plain).appending(playlist(encrypted))
        #expect(stitched.segments.last?.keys.first?.initializationVector == "0x05")
        #expect(stitched.segments[3].keys.first?.initializationVector == "0x00000000000000000000000000000015")
        #expect(stitched.declaredVersion == 3)
    }

    @Test func droppingRangeLeavesOneDiscontinuity() throws {
        let cut = try playlist(encrypted).dropping(
            MediaTimeRange(start: MediaTime(seconds: 3), end: MediaTime(seconds: 13))
        )
        #expect(cut.segments.map(\.uri) == ["0.ts", "3.ts", "4.ts", "5.ts"])
        #expect(cut.segments[1].keys.first?.initializationVector == "0x00000000000000000000000000000017")
        #expect(cut.segments.filter(\.hasDiscontinuity).map(\.position) == [1])
    }

    @Test func mapsAreRepeatedAtEachBoundary() throws {
        let content = try playlist(
            "#EXTM3U\n#EXT-X-MAP:URI=\"c.mp4\"\n#EXTINF:4,\n0.m4s\n#EXTINF:4,\n1.m4s\n#EXT-X-ENDLIST\n"
        )
        let other = try playlist("#EXTM3U\n#EXT-X-MAP:URI=\"a.mp4\"\n#EXTINF:4,\na.m4s\n#EXT-X-ENDLIST\n")
        let stitched = try content.inserting(other, at: MediaTime(seconds: 4))
        #expect(stitched.segments.map { $0.map?.uri } == ["c.mp4", "a.mp4", "c.mp4"])
    }

    @Test func appendingTransportStreamToFragmentsIsRejected() throws {
        let content = try playlist("#EXTM3U\n#EXT-X-MAP:URI=\"c.mp4\"\n#EXTINF:4,\n0.m4s\n#EXT-X-ENDLIST\n")
        #expect(throws: PlaylistEditError.self) { try content.appending(playlist(plain)) }
        #expect(try playlist(plain).appending(content).segments.map { $0.map?.uri } == [nil, nil, "c.mp4"])
    }

    @Test func relativeURIsOfAnotherFolderBecomeAbsolute() throws {
        let content = try playlist(encrypted, at: "https://a.example/x/list.m3u8")
        let near = try content.appending(playlist(plain, at: "https://a.example/x/ad.m3u8"))
        #expect(near.segments.last?.uri == "ad1.ts")
        let far = try content.appending(playlist(plain, at: "https://b.example/y/ad.m3u8?sig=a%2Fb"))
        #expect(far.segments.last?.uri == "https://b.example/y/ad1.ts")
        #expect(far.segments.first?.uri == "0.ts")
    }

    @Test func absoluteAddressesLeaveOtherTextUnchanged() throws {
        let source = try playlist(encrypted, at: "https://a.example/x/list.m3u8?token=1")
        let absolute = try source.withAbsoluteAddresses()
        #expect(absolute.segments.first?.uri == "https://a.example/x/0.ts")
        #expect(absolute.segments.last?.keys.first?.uri == "https://a.example/x/k2")
        #expect(text(absolute).replacing("https://a.example/x/", with: "") == encrypted)
    }

    @Test func lineEndingIsAddedBeforeAppendedPlaylist() throws {
        let stitched = try playlist("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\na.ts")
            .appending(playlist("#EXTM3U\n#EXTINF:4,\nb.ts"))
        #expect(
            text(stitched)
                == "#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\na.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:4,\nb.ts"
        )
    }

    @Test func stitchingEmptyPlaylistIsRejected() throws {
        let empty = try playlist("#EXTM3U\n#EXT-X-ENDLIST\n")
        #expect(throws: PlaylistEditError.self) { try playlist(plain).appending(empty) }
    }

    /// An initialization section is encrypted with the keys before its tag, not with those of the segment.
    @Test func mapIsRepeatedWithItsOwnKeys() throws {
        let content = try playlist(
            """
            #EXTM3U
            #EXT-X-MAP:URI="clear.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x01
            #EXTINF:4,
            0.m4s
            #EXTINF:4,
            1.m4s
            #EXT-X-ENDLIST

            """
        )
        let other = try playlist("#EXTM3U\n#EXT-X-MAP:URI=\"a.mp4\"\n#EXTINF:4,\na.m4s\n#EXT-X-ENDLIST\n")
        let stitched = try content.inserting(other, at: MediaTime(seconds: 4))
        let last = try #require(stitched.segments.last)
        #expect(last.map?.uri == "clear.mp4" && last.map?.keys.isEmpty == true && last.keys.first?.uri == "k")
        #expect(stitched.segments[1].map?.keys.isEmpty == true && stitched.segments[1].keys.isEmpty)
        #expect(stitched.segments[0].map?.keys.isEmpty == true)
    }

    /// Text inside a quoted value that resembles an attribute is not an attribute.
    @Test func initializationVectorIsAddedWhenOnlyTheURIContainsIV() throws {
        let source = try playlist(
            "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k?IV=1,KEYFORMAT=x\"\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
        )
        let stitched = try source.prepending(playlist(plain))
        #expect(stitched.segments.last?.keys.first?.initializationVector == "0x00000000000000000000000000000000")
    }

    @Test func stitchingDeltaUpdateIsRejected() throws {
        let delta = try playlist("#EXTM3U\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXTINF:4,\na.ts\n")
        #expect(throws: PlaylistEditError.self) { try delta.appending(playlist(plain)) }
        #expect(throws: PlaylistEditError.self) { try playlist("#EXTM3U\n").appending(playlist(plain)) }
    }

    @Test func removedGroupsKeepOtherAttributes() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="a.m3u8"
            #EXT-X-STREAM-INF:AUDIO="a",NAME="x,SUBTITLES=\u{201C}",BANDWIDTH=1,SUBTITLES="s",VIDEO="v"
            v.m3u8

            """
        let source = try MultivariantPlaylist(parsing: Array(text.utf8))
        let lines = try source.relocated(variant: { _ in "v.m3u8" }, rendition: { _ in nil }).bytes
        let stream = String(decoding: lines, as: UTF8.self).split(separator: "\n").first { $0.contains("STREAM-INF") }
        #expect(stream == "#EXT-X-STREAM-INF:NAME=\"x,SUBTITLES=\u{201C}\",BANDWIDTH=1")
    }

    /// The keys of the map and of the segments are found even if their URIs contain variables.
    @Test func keysWithVariablesInURIsAreRelocated() throws {
        let moved = try EditSample.variableKeys.media().relocated(
            MediaPlaylist.Relocation(
                segment: { "s\($0)" },
                map: { _ in "m" },
                key: { "file-\($0.uri?.suffix(2) ?? "")" }
            )
        )
        #expect(moved.segments[0].map?.keys.map(\.uri) == ["file-mk"])
        #expect(moved.segments.map { $0.keys.map(\.uri) } == [["file-/a", "file-/b"], ["file-/a", "file-/b"]])
    }
}
