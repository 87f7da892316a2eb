import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Tests of edits at the exact times of boundaries, and of their exact limits and errors.
@Suite struct EditBoundaryTests {
    /// Returns a complete playlist of segments of 4 seconds.
    private func playlist(_ count: Int, header: String = "", end: String = "#EXT-X-ENDLIST\n") throws -> MediaPlaylist {
        let segments = (0..<count).map { "#EXTINF:4,\n\($0)\n" }.joined()
        return try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(header)\(segments)\(end)".utf8)
        )
    }

    private func text(_ playlist: MediaPlaylist) -> String { String(decoding: playlist.bytes, as: UTF8.self) }

    private func error(_ edit: () throws -> MediaPlaylist) -> PlaylistEditError? {
        do {
            _ = try edit()
            return nil
        } catch {
            return error as? PlaylistEditError
        }
    }

    // MARK: Start position

    /// A playlist of 40 seconds declares the position; an advertisement has 4 seconds.
    @Test(
        arguments: [
            ("20", "insert", "ad@20", "24"), ("19.999", "insert", "ad@20", "19.999"),
            ("20.001", "insert", "ad@20", "24.001"), ("-20", "insert", "ad@20", "-20"),
            ("-20.001", "insert", "ad@20", "19.999"), ("-19.999", "insert", "ad@20", "-19.999"),
            ("20", "start", "20", "0"), ("19.999", "start", "20", nil), ("20.001", "start", "20", "0.001"),
            ("20", "duration", "20", nil), ("19.999", "duration", "20", "19.999"),
            ("-20", "duration", "20", nil), ("-20.001", "duration", "20", "19.999"),
            ("0", "start", "8", "0"), ("39.999", "start", "8", "31.999"), ("40", "start", "8", "40"),
            ("-40", "start", "8", "-40"), ("-39.999", "start", "8", nil), ("-0.001", "start", "8", "-0.001"),
            ("7.999", "drop-range", "8...16", "7.999"), ("8", "drop-range", "8...16", nil),
            ("15.999", "drop-range", "8...16", nil), ("16", "drop-range", "8...16", "8"),
            ("12", "repeat", "2", "12"), ("-12", "repeat", "2", "28"), ("39.999", "append", "ad", "39.999"),
            ("4", "prepend", "ad", "8"),
        ] as [(String, String, String, String?)]
    )
    func startPositionFollowsItsMedia(offset: String, name: String, value: String, expected: String?) throws {
        let host = try playlist(10, header: "#EXT-X-START:TIME-OFFSET=\(offset)\n")
        let edited = try EditPlan([PlaylistEdit(name: name, value: value)]).applied(
            to: host,
            sources: ["ad": try playlist(1)]
        )
        let lines = text(edited).split(separator: "\n").filter { $0.hasPrefix("#EXT-X-START:") }
        #expect(lines.map { String($0) } == (expected.map { ["#EXT-X-START:TIME-OFFSET=\($0)"] } ?? []))
    }

    // MARK: Ranges

    @Test(
        arguments: [
            ("-5", "4", 0..<1), (nil, "-1", 0..<0), ("-5", "-1", 0..<0), ("0", "0", 0..<1), (nil, "0", 0..<1),
            ("12", "5", 3..<3), ("12", "8", 3..<3), ("0", "20", 0..<5), ("0", "19.999", 0..<5), ("0", "16.001", 0..<5),
            ("0", "16", 0..<4), ("16", "16", 4..<5), ("19.999", nil, 4..<5), ("20", nil, 5..<5), (nil, nil, 0..<5),
            ("3.999", "4", 0..<1), ("4", "4.001", 1..<2),
        ] as [(String?, String?, Range<Int>)]
    )
    func segmentsThatOverlapARange(low: String?, high: String?, expected: Range<Int>) throws {
        let range = PartialRange(
            low: low.flatMap { MediaTime(decimal: $0) },
            high: high.flatMap { MediaTime(decimal: $0) }
        )
        #expect(try playlist(5).positions(overlapping: range) == expected)
    }

    @Test func errorsDescribeThePlaylist() throws {
        let source = try playlist(5)
        let total = ["a first segment of 4 s", "20 s in total"]
        func seconds(_ value: Int64) -> MediaTime { MediaTime(seconds: value) }
        func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
            MediaTimeRange(start: seconds(start), end: seconds(end))
        }
        #expect(error { try source.limited(to: seconds(3)) } == .nothingLeft(filter: "duration 3", available: total))
        #expect(error { try source.limited(to: seconds(4)) } == nil)
        #expect(
            error { try source.dropping(range(0, 20)) } == .nothingLeft(filter: "drop-range 0...20", available: total)
        )
        #expect(error { try source.dropping(range(0, 19)) } == nil)
        #expect(
            error { try source.cutting(betweenBoundariesNear: .unbounded) }
                == .nothingLeft(filter: "cut 0...", available: total)
        )
        #expect(
            error { try source.trimmed(to: PartialRange(low: seconds(20), high: nil)) }
                == .nothingLeft(filter: "range 20...", available: ["20 s in total"])
        )
        #expect(
            error { try playlist(0).limited(to: seconds(3)) }
                == .nothingLeft(filter: "duration 3", available: ["no segment", "0 s in total"])
        )
    }

    // MARK: Limits

    /// The size of a repeated playlist is known before it is written.
    @Test func repetitionsAreLimitedByTheNumberOfSegments() throws {
        let source = try playlist(2)
        let limits = PlaylistLimits(byteCount: 100, entryCount: 1_000)
        #expect(error { try source.repeated(501, limits: limits) } == .tooLarge(.entryCount(1_000)))
        #expect(error { try source.repeated(500, limits: limits) } == .tooLarge(.byteCount(100)))
        #expect(try source.repeated(0).bytes == source.bytes)
    }

    @Test func completePlaylistsNeedNoEndMarker() throws {
        let complete = try playlist(1, header: "#EXT-X-PLAYLIST-TYPE:VOD\n", end: "")
        #expect(try complete.repeated(2).segments.map(\.uri) == ["0", "0"])
        #expect(try complete.appending(playlist(1)).segments.count == 2)
        for header in ["", "#EXT-X-PLAYLIST-TYPE:EVENT\n"] {
            let live = try playlist(1, header: header, end: "")
            #expect(
                error { try live.repeated(2) } == .cannotStitch(reason: "a live playlist cannot be repeated"),
                "\(header)"
            )
            #expect(
                error { try live.appending(playlist(1)) }
                    == .cannotStitch(reason: "nothing can be appended to a live playlist"),
                "\(header)"
            )
        }
    }

    @Test func valuesOfVariablesMayReachTheByteLimit() throws {
        let text = """
            #EXTM3U
            #EXT-X-DEFINE:NAME="n",VALUE="0123456789"
            #EXT-X-DATERANGE:ID="{$n}",X-A="{$n}{$n}",X-B="none",X-C="{none"
            #EXTINF:4,{$n}
            a.ts
            #EXT-X-ENDLIST

            """
        let source = try MediaPlaylist(parsing: Array(text.utf8))
        let result = try source.withoutReferences(limits: PlaylistLimits())
        let expected = text.replacing(
            #"ID="{$n}",X-A="{$n}{$n}""#,
            with: #"ID="0123456789",X-A="01234567890123456789""#
        )
        #expect(self.text(result) == expected)
        let size = result.bytes.count
        #expect(try source.withoutReferences(limits: PlaylistLimits(byteCount: size)).bytes == result.bytes)
        for limit in [size - 1, 29, 1] {
            #expect(
                error { try source.withoutReferences(limits: PlaylistLimits(byteCount: limit)) }
                    == .tooLarge(.byteCount(limit))
            )
        }
    }

    @Test func limitsOfPlaylistsAreThoseOfTheEdit() {
        let limits = EditLimits(loadedBytes: ByteCount(100), entries: 5, resultBytes: ByteCount(200))
        #expect(limits.loadedPlaylist == PlaylistLimits(byteCount: 100, entryCount: 5))
        #expect(limits.result == PlaylistLimits(byteCount: 200, entryCount: 5))
    }

    @Test func thereIsOneDivisionMoreThanEdits() throws {
        let division = PlaylistEdit.split([MediaTime(seconds: 1)])
        let edits = Array(repeating: PlaylistEdit.absolute, count: 2)
        let limits = EditLimits(edits: 2)
        try limits.verify(EditPlan(edits + Array(repeating: division, count: 3)))
        #expect(throws: PlaylistEditError.tooManyEdits(maximum: 2)) {
            try limits.verify(EditPlan(Array(repeating: division, count: 4)))
        }
        #expect(throws: PlaylistEditError.tooManyEdits(maximum: 2)) {
            try limits.verify(EditPlan(edits + [.canonical, division]))
        }
    }

    @Test func onlyTheEditOfAChannelHasOne() throws {
        let channel = SimulatedChannel(window: MediaTime(seconds: 120))
        #expect(EditPlan([.absolute, .live(channel)]).channel == channel)
        #expect(EditPlan([.append("loop")]).channel == nil)
    }

    /// Only a live program goes on without what is played in its breaks.
    @Test func completePlaylistNeedsWhatIsPlayedInItsBreaks() throws {
        let plan = EditPlan([.replaceBreaks(with: "x", at: .cues)])
        let header = "#EXT-X-CUE-OUT:4\n"
        #expect(
            error { try plan.applied(to: playlist(2, header: header)) } == .cannotStitch(reason: "x was not loaded")
        )
        let live = try playlist(2, header: header, end: "")
        #expect(try plan.applied(to: live).segments.count == 2)
    }

    // MARK: Gaps

    @Test(arguments: [
        ("0.5", "gap:9/1"), ("1", "gap:9/1"), ("599.5", "gap:9/600"), ("600", "gap:9/600"), ("600.5", "gap:9"),
        ("0", "gap:9"), ("-1", "gap:9"), ("10", "gap:9"), ("9.5", "gap:9"),
    ])
    func gapsHaveATargetDurationOfUpTo600Seconds(target: String, expected: String) throws {
        let address = try GapPlaylist.address(of: MediaTime(seconds: 9), target: MediaTime(decimal: target))
        #expect(address == expected)
        #expect(GapPlaylist.playlist(at: address)?.duration == MediaTime(seconds: 9))
    }

    @Test func longestGapHasTheMostSegments() throws {
        let target = MediaTime(seconds: 1)
        #expect(try GapPlaylist.address(of: MediaTime(seconds: 10_000), target: target) == "gap:10000/1")
        #expect(
            throws: PlaylistEditError.cannotStitch(
                reason: "a rendition without a match would need a gap of 10000.5 s; the maximum is 10000 s"
            )
        ) { try GapPlaylist.address(of: MediaTime(value: 20_001, timescale: 2), target: target) }
    }

    // MARK: Keys

    private static let key = "00112233445566778899aabbccddeeff"
    private static let address = "\"data:application/octet-stream;base64,ABEiM0RVZneImaq7zN3u/w==\""

    /// Returns the lines of a playlist after its header, with a key.
    private func keyed(_ value: String, _ text: String) throws -> String {
        let plan = EditPlan([try PlaylistEdit(name: "key", value: value)])
        let bytes =
            switch try Playlist.parse(Array(("#EXTM3U\n" + text).utf8)) {
            case .media(let playlist): try plan.applied(to: playlist).bytes
            case .multivariant(let playlist): try plan.applied(to: playlist).bytes
            }
        return String(decoding: bytes.dropFirst(8), as: UTF8.self)
    }

    @Test(arguments: [
        ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n", "#EXT-X-KEY:METHOD=AES-128,URI=\(address)\n"),
        (
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"identity\"\n",
            "#EXT-X-KEY:METHOD=AES-128,URI=\(address),KEYFORMAT=\"identity\"\n"
        ),
        (
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"\"\n",
            "#EXT-X-KEY:METHOD=AES-128,URI=\(address),KEYFORMAT=\"\"\n"
        ),
        ("#EXT-X-KEY:URI=\"k\"\n", "#EXT-X-KEY:URI=\"k\"\n"), ("#EXT-X-KEY\n", "#EXT-X-KEY\n"),
        ("#EXT-X-KEY:METHOD=NONE\n", "#EXT-X-KEY:METHOD=NONE\n"), ("", "#EXT-X-KEY:METHOD=AES-128,URI=\(address)\n"),
    ])
    func keysOfSegmentsAreReplaced(tag: String, expected: String) throws {
        let segment = "#EXTINF:4,\na\n"
        #expect(try keyed(Self.key, tag + segment) == expected + segment)
    }

    @Test func keysOfSessionsAreReplaced() throws {
        let rest = """
            #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.example"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            v

            """
        let vector = "\(Self.key),iv=\(Self.key)"
        #expect(try keyed(vector, rest) == rest)
        let own = "#EXT-X-VERSION:1\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"k\"\n\(rest)"
        let expected =
            "#EXT-X-VERSION:1\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\(Self.address),IV=0x\(Self.key.uppercased())\n\(rest)"
        #expect(try keyed(vector, own) == expected)
    }

    /// The version is raised only for a vector that is written.
    @Test func playlistWithoutAnEncryptedSegmentIsUnchanged() throws {
        let clear = "#EXT-X-VERSION:1\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:4,\na\n"
        #expect(try keyed("\(Self.key),iv=\(Self.key)", clear) == clear)
    }

    @Test func keyIsAddedAfterAHeaderWithoutALineEnding() throws {
        let playlist = try MediaPlaylist(parsing: Array("#EXTM3U".utf8))
        let edited = try EditPlan([PlaylistEdit(name: "key", value: Self.key)]).applied(to: playlist)
        #expect(text(edited) == "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\(Self.address)\n")
    }

    @Test(arguments: [0, 1, 15, 17, 32])
    func keysHaveSixteenBytes(count: Int) throws {
        let bytes = [UInt8](repeating: 0x0F, count: 16)
        let other = [UInt8](repeating: 0x10, count: count)
        #expect(SegmentKey(bytes: other) == nil)
        #expect(SegmentKey(bytes: bytes, initializationVector: other) == nil)
        let key = try #require(SegmentKey(bytes: bytes, initializationVector: [UInt8](repeating: 0x10, count: 16)))
        let digits = String(repeating: "0f", count: 16)
        let vector = String(repeating: "10", count: 16)
        #expect(key.description == "\(digits),iv=\(vector)")
        #expect(SegmentKey("0X\(digits.uppercased()),iv=0x\(vector)") == key)
        #expect(SegmentKey(bytes: bytes)?.description == digits)
    }

    @Test(arguments: ["/", ":", "@", "G", "`", "g", "-", " "])
    func keysHaveHexadecimalDigits(character: String) {
        let rest = String(repeating: "0", count: 31)
        #expect(SegmentKey(character + rest) == nil && SegmentKey(rest + character) == nil)
        #expect(SegmentKey("\(Self.key),iv=\(rest)\(character)") == nil)
    }
}
