import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests of the values of edits as text, and of the messages for invalid ones.
@Suite struct EditValueTests {
    @Test(
        arguments: [
            ("0", "0"), ("12.5", "12.5"), ("59", "59"), ("61", "61"), ("0:0", "0"), ("1:5", "65"),
            ("1:59.999", "119.999"),
            ("99:00", "5940"), ("1:00:00", "3600"), ("100:59:59.5", "363599.5"), ("00:01:30", "90"),
            ("999999999999999999", "999999999999999999"),
            ("", nil), (":", nil), ("1:", nil), (":1", nil), ("1:60", nil), ("0:60:00", nil), ("1:60:00", nil),
            ("0:00:60", nil), ("1.5:30", nil), ("1:0.5:30", nil), ("1:2:3:4", nil), ("-1", nil), ("+1", nil),
            ("1:-1", nil), ("1:+1", nil), ("1e3", nil), ("x", nil), (" 1", nil),
            ("999999999999999999:00:00", nil), ("9999999999999999:00:00", nil),
            ("99999999999999:00:00", "359999999999996400"),
        ] as [(String, String?)]
    )
    func clockTimesAreParsed(text: String, expected: String?) {
        #expect(ClockTime.parse(text)?.description == expected)
    }

    @Test(
        arguments: [
            ("bandwidth", "900k...4M", "bandwidth=900000...4000000"), ("bandwidth", "...4M", "bandwidth=...4000000"),
            ("bandwidth", "1M...", "bandwidth=1000000..."), ("bandwidth", "5...5", "bandwidth=5...5"),
            ("max-height", "1", "max-height=1"), ("max-height", "65535", "max-height=65535"),
            ("no-i-frames", "", "no-i-frames="), ("no-i-frames", "1", "no-i-frames="),
            ("no-i-frames", "true", "no-i-frames="),
            ("start", "0", "start=0"), ("start", "1:01", "start=61"), ("duration", "0.001", "duration=0.001"),
            ("append", "a b@1", "append=a b@1"), ("prepend", "a", "prepend=a"), ("insert", "a@1", "insert=a@1"),
            ("insert", "https://u@h/a@b@1:00", "insert=https://u@h/a@b@60"),
            ("drop-range", "1...2", "drop-range=1...2"), ("drop-range", "2...2", "drop-range=2...2"),
            ("drop-range", "...2", "drop-range=0...2"), ("drop-range", "2...", "drop-range=2..."),
            ("absolute", "", "absolute="), ("canonical", "", "canonical="),
        ]
    )
    func editsAreParsedAndFormatted(name: String, value: String, expected: String) throws {
        let edit = try PlaylistEdit(name: name, value: value)
        #expect("\(edit.nameAndValue.name)=\(edit.nameAndValue.value)" == expected)
        #expect(PlaylistEdit.names.contains(name))
        #expect(edit.isFilter == ["bandwidth", "max-height", "no-i-frames"].contains(name))
    }

    /// An edit without a parameter is switched on or left out; no other value is taken for one of these.
    @Test func valuesSwitchEditsWithoutAParameter() throws {
        for definition in PlaylistEdit.definitions where definition.parameter == nil {
            let name = definition.name
            for value in ["", "1", "true"] {
                #expect(try PlaylistEdit.edit(named: name, value)?.nameAndValue.value == "")
            }
            for value in ["0", "false"] { #expect(try PlaylistEdit.edit(named: name, value) == nil) }
            for value in ["no", "yes", "TRUE", "x", " "] {
                let expected = PlaylistEditError.invalidValue(
                    edit: name,
                    value: value,
                    expected: "empty, 1 or true (0 or false leaves it out)"
                )
                #expect(throws: expected) { try PlaylistEdit.edit(named: name, value) }
                #expect(throws: expected) { try PlaylistEdit(name: name, value: value) }
            }
        }
        #expect(throws: PlaylistEditError.self) { try PlaylistEdit.edit(named: "max-height", "0") }
    }

    @Test func everyListedNameIsAnEdit() throws {
        let names = try PlaylistEdit.definitions.map { definition in
            try PlaylistEdit(name: definition.name, value: definition.examples.first ?? "").nameAndValue.name
        }
        #expect(names == PlaylistEdit.names && Set(names).count == names.count)
        // Scripts and addresses of players contain these names.
        let established = [
            "bandwidth", "max-height", "no-i-frames", "start", "duration", "append", "prepend", "insert", "drop-range",
            "absolute", "canonical",
        ]
        #expect(Set(names).isSuperset(of: established))
    }

    @Test(
        arguments: [
            (
                "bandwidth", "",
                "bandwidth must be LOW...HIGH in bit/s with LOW at most HIGH, such as 900k...4M, not \"\""
            ),
            (
                "bandwidth", "4M...900k",
                "bandwidth must be LOW...HIGH in bit/s with LOW at most HIGH, such as 900k...4M, not \"4M...900k\""
            ),
            (
                "bandwidth", "...",
                "bandwidth must be LOW...HIGH in bit/s with LOW at most HIGH, such as 900k...4M, not \"...\""
            ),
            (
                "bandwidth", "x...4M",
                "bandwidth must be LOW...HIGH in bit/s with LOW at most HIGH, such as 900k...4M, not \"x...4M\""
            ),
            (
                "bandwidth", "4M...x",
                "bandwidth must be LOW...HIGH in bit/s with LOW at most HIGH, such as 900k...4M, not \"4M...x\""
            ),
            (
                "bandwidth", "4M",
                "bandwidth must be LOW...HIGH in bit/s with LOW at most HIGH, such as 900k...4M, not \"4M\""
            ),
            ("max-height", "0", "max-height must be a height in pixels from 1 to 65535, not \"0\""),
            ("max-height", "65536", "max-height must be a height in pixels from 1 to 65535, not \"65536\""),
            ("max-height", "-1", "max-height must be a height in pixels from 1 to 65535, not \"-1\""),
            ("start", "x", "start must be a time, such as 12.5 or 00:01:30, not \"x\""),
            ("duration", "0", "duration must be a duration greater than zero, such as 30 or 00:01:30, not \"0\""),
            ("duration", "", "duration must be a duration greater than zero, such as 30 or 00:01:30, not \"\""),
            ("append", "", "append must be the URL of a playlist, not \"\""),
            ("prepend", "", "prepend must be the URL of a playlist, not \"\""),
            ("insert", "a", "insert must be SOURCE@TIME, not \"a\""),
            ("insert", "@1", "insert must be SOURCE@TIME, not \"@1\""),
            ("insert", "a@", "insert must be SOURCE@TIME, not \"a@\""),
            ("insert", "https://h/?token=secret", "insert must be SOURCE@TIME, not \"https://h/?…\""),
            (
                "drop-range", "2...1",
                "drop-range must be START...END in seconds or h:mm:ss with START before END, such as 10...20 or 1:00..., not \"2...1\""
            ),
            (
                "drop-range", "1",
                "drop-range must be START...END in seconds or h:mm:ss with START before END, such as 10...20 or 1:00..., not \"1\""
            ),
        ]
    )
    func invalidValuesAreReported(name: String, value: String, message: String) {
        let error = #expect(throws: PlaylistEditError.self) { try PlaylistEdit(name: name, value: value) }
        #expect(error?.code == .invalidValue)
        // Queries of addresses are redacted.
        #expect(error?.description == message.replacing("https://h/?…", with: "\(ResourceAddress(value))"))
        guard case .invalidValue(name, value, let expected) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.hasPrefix("\(name) must be \(expected), not "))
    }

    @Test func unknownEditIsReported() {
        let error = #expect(throws: PlaylistEditError.self) { try PlaylistEdit(name: "Start", value: "1") }
        #expect(error == .unknownEdit("Start") && error?.code == .unknownEdit)
        #expect(error?.description == "unknown edit Start")
    }

    @Test(
        arguments: [
            (
                .nothingLeft(filter: "f", available: ["a", "b"]), "nothing-left",
                "f would remove everything; the playlist has a, b"
            ),
            (.wrongKind(edit: "e", expected: "media"), "wrong-kind", "e requires a media playlist"),
            (
                .timeOutside(edit: "start", time: "9", duration: "8"), "time-outside",
                "start: 9 s is after the end of the playlist, at 8 s"
            ),
            (.cannotStitch(reason: "r"), "cannot-stitch", "the playlist cannot be edited: r"),
            (
                .mapCannotEnd(at: ResourceAddress("https://h/a.m3u8"), after: nil), "cannot-stitch",
                "the playlist cannot be edited: https://h/a.m3u8 has segments without EXT-X-MAP (such as MPEG-TS), which "
                    + "cannot follow those of a playlist with EXT-X-MAP (fragmented MP4), because no tag removes a map"
            ),
            (
                .tooLarge(.entryCount(2)), "playlist-too-large",
                "the edited playlist would be too large: the playlist has more than 2 entries"
            ),
            (.unwritableAddress("#x"), "unwritable-address", "a playlist cannot contain the URI \"#x\""),
            (
                .unwritableVariable(name: "a", tag: "EXT-X-MEDIA"), "unwritable-variable",
                "the value of the variable \"a\" cannot be written in EXT-X-MEDIA, "
                    + "because no quoted string can contain it"
            ),
            (.unreadableResult(edit: "e", reason: "r"), "unreadable-result", "the result of e would be r"),
        ] as [(PlaylistEditError, String, String)]
    )
    func errorsHaveCodeAndMessage(error: PlaylistEditError, code: String, message: String) {
        #expect(error.code.rawValue == code && error.description == message)
    }

    @Test func openRangeIncludesItsBounds() {
        let range = PartialRange<Int>(low: 2, high: 4)
        #expect((1...5).map(range.contains) == [false, true, true, true, false])
        #expect((1...5).map(PartialRange<Int>(low: nil, high: 4).contains) == [true, true, true, true, false])
        #expect((1...5).map(PartialRange<Int>(low: 2, high: nil).contains) == [false, true, true, true, true])
        #expect(PartialRange<Int>("2...2") { Int($0) } == PartialRange(low: 2, high: 2))
        #expect(PartialRange<Int>("3...2") { Int($0) } == nil)
        #expect(PartialRange<Int>("2..2") { Int($0) } == nil)
        #expect(PartialRange<Int>("2...") { Int($0) } == PartialRange(low: 2, high: nil))
        #expect(PartialRange<Int>("...2") { Int($0) } == PartialRange(low: nil, high: 2))
    }
}

/// Tests of the gap playlists for renditions without a counterpart in the stitched presentation.
@Suite struct GapPlaylistTests {
    @Test(arguments: [("gap:10", "10"), ("gap:10.5", "10 0.5"), ("gap:0.001", "0.001"), ("gap:20", "10 10")])
    func gapPlaylistHasSegmentsOfTenSeconds(address: String, durations: String) throws {
        let playlist = try #require(GapPlaylist.playlist(at: address))
        let segments = durations.split(separator: " ").map { "#EXT-X-GAP\n#EXTINF:\($0),\ngap.vtt\n" }.joined()
        let version = durations.contains(".") ? "#EXT-X-VERSION:3\n" : ""
        let head = "#EXTM3U\n\(version)#EXT-X-TARGETDURATION:10\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        #expect(String(decoding: playlist.bytes, as: UTF8.self) == head + segments + "#EXT-X-ENDLIST\n")
        #expect(Playlist.media(playlist).minimumVersion == playlist.version)
    }

    @Test func gapPlaylistHasTheTargetDurationOfWhatItReplaces() throws {
        let address = try GapPlaylist.address(of: MediaTime(seconds: 9), target: MediaTime(value: 39, timescale: 10))
        #expect(address == "gap:9/4")
        let playlist = try #require(GapPlaylist.playlist(at: address))
        #expect(playlist.targetDuration == MediaTime(seconds: 4))
        #expect(playlist.segments.map(\.duration) == [4, 4, 1].map { MediaTime(seconds: $0) })
        #expect(try GapPlaylist.address(of: MediaTime(seconds: 9), target: MediaTime(seconds: 10)) == "gap:9")
    }

    @Test(arguments: [
        "gap:0", "gap:-1", "gap:100000.001", "gap:", "gap:9/", "gap:9/0", "gap:9/601", "gap:9/4/4", "gap:x", "gap",
        "gaps:1", "GAP:1", "1",
    ])
    func invalidGapAddressHasNoPlaylist(address: String) { #expect(GapPlaylist.playlist(at: address) == nil) }

    @Test func gapIsLimitedToANumberOfSegments() throws {
        #expect(GapPlaylist.scheme == "gap" && GapPlaylist.maximumSegmentCount == 10_000)
        #expect(GapPlaylist.playlist(at: "gap:100000")?.segments.count == 10_000)
        #expect(GapPlaylist.playlist(at: "gap:60000/6")?.segments.count == 10_000)
        #expect(GapPlaylist.playlist(at: "gap:60000.5/6") == nil)
        #expect(try GapPlaylist.address(of: MediaTime(seconds: 100_000)) == "gap:100000")
        #expect(try GapPlaylist.address(of: MediaTime(value: 1, timescale: 1000)) == "gap:0.001")
        for time in ["0", "-1", "100000.001"] {
            let error = #expect(throws: PlaylistEditError.self) {
                try GapPlaylist.address(of: try #require(MediaTime(decimal: time)))
            }
            #expect(
                error?.description
                    == "the playlist cannot be edited: a rendition without a match would need a gap of \(time) s; the maximum is 100000 s"
            )
        }
    }
}

/// Tests of the exact size limit of results.
@Suite struct EditSizeTests {
    private func expect(_ size: Int, _ edit: (PlaylistLimits) throws -> Int) throws {
        #expect(try edit(PlaylistLimits(byteCount: size)) == size)
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(size - 1))) {
            try edit(PlaylistLimits(byteCount: size - 1))
        }
    }

    @Test(arguments: [("bare", "numbered-keys"), ("plain", "ad"), ("maps", "keyed-map")])
    func resultMayReachTheByteLimit(name: String, other: String) throws {
        let host = try #require(EditSample.media(name)).media()
        let guest = try #require(EditSample.media(other)).media()
        try expect(host.prepending(guest).bytes.count) { try host.prepending(guest, limits: $0).bytes.count }
        let four = MediaTime(seconds: 4)
        try expect(host.inserting(guest, at: four).bytes.count) {
            try host.inserting(guest, at: four, limits: $0).bytes.count
        }
        try expect(host.limited(to: four).bytes.count) { try host.limited(to: four, limits: $0).bytes.count }
        try expect(host.dropped(before: four).bytes.count) { try host.dropped(before: four, limits: $0).bytes.count }
        let range = MediaTimeRange(start: .zero, end: four)
        try expect(host.dropping(range).bytes.count) { try host.dropping(range, limits: $0).bytes.count }
    }

    @Test func rewrittenAddressesMayReachTheByteLimit() throws {
        for text in ["#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=key\n#EXTINF:1,\na\n", "#EXTM3U\n#EXTINF:1,\nabc\n"] {
            let playlist = try Playlist.parse(Array(text.utf8))
            for address in ["x", "long", "with \" a quotation mark"] {
                let size = try playlist.rewritingAddresses { _ in address }.bytes.count
                try expect(size) { try playlist.rewritingAddresses(limits: $0) { _ in address }.bytes.count }
                // This function does not parse the result, so only its size is checked.
                let bytes = try playlist.bytes(rewritingAddressesUpTo: size) { _ in address }
                #expect(bytes == (try playlist.rewritingAddresses { _ in address }.bytes))
                #expect(throws: PlaylistEditError.tooLarge(.byteCount(size - 1))) {
                    try playlist.bytes(rewritingAddressesUpTo: size - 1) { _ in address }
                }
            }
            #expect(try playlist.bytes(rewritingAddressesUpTo: 0) { _ in nil } == playlist.bytes)
            #expect(try playlist.bytes(rewritingAddressesUpTo: 0) { $0.uri } == playlist.bytes)
        }
    }

    @Test(
        arguments: [
            ("a\u{1F}b", "a%1Fb"), ("a\u{7F}b", "a%7Fb"), ("a\u{7E}b", "a\u{7E}b"), ("a b", "a b"), (" ", "%20"),
            ("a ", "a%20"), (" a", "%20a"), ("\"", "%22"), ("!", "!"), ("\u{80}", "\u{80}"), ("a\t", "a%09"),
            ("\0", "%00"), ("\u{1}\u{E}", "%01%0E"),
        ]
    )
    func bytesThatWouldTerminateAnAddressArePercentEncoded(address: String, written: String) throws {
        let playlist = try Playlist.parse(Array("#EXTM3U\n#EXT-X-MAP:URI=k,BYTERANGE=\"1\"\n#EXTINF:1,\na\n".utf8))
        let moved = try playlist.rewritingAddresses { _ in address }
        #expect(
            String(decoding: moved.bytes, as: UTF8.self)
                == "#EXTM3U\n#EXT-X-MAP:URI=\"\(written)\",BYTERANGE=\"1\"\n#EXTINF:1,\n\(written)\n"
        )
    }

    @Test func fragmentOnlyAddressIsValidOnlyInAttribute() throws {
        let playlist = try Playlist.parse(Array("#EXTM3U\n#EXT-X-MAP:URI=\"k\"\n#EXTINF:1,\na\n".utf8))
        let moved = try playlist.rewritingAddresses { $0.isAttribute ? "#b" : nil }
        #expect(moved.addresses.map(\.uri) == ["#b", "a"])
        #expect(throws: PlaylistEditError.unwritableAddress("#b")) {
            try playlist.rewritingAddresses { $0.isAttribute ? nil : "#b" }
        }
        #expect(throws: PlaylistEditError.unwritableAddress("")) {
            try playlist.rewritingAddresses { $0.isAttribute ? "" : nil }
        }
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try playlist.bytes(rewritingAddressesUpTo: 100) { _ in throw Refusal() } }
    }
}
