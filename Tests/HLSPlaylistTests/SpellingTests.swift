import MediaTiming
import ResourceAddressing
import Testing

@testable import HLSPlaylist

/// Tests of the spellings of single values that are accepted or rejected.
@Suite struct SpellingTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", "0", "1970-01-01T00:00:00.000Z"),
            ("2024-02-29T23:59:58.5Z", "1709251198.5", "2024-02-29T23:59:58.500Z"),
            ("2024-03-01t00:00:00z", "1709251200", "2024-03-01T00:00:00.000Z"),
            ("2000-03-01 12:34:56.1234Z", "951914096.1234", "2000-03-01T12:34:56.1234Z"),
            ("1900-02-28T00:00:00+00:00", "-2203977600", "1900-02-28T00:00:00.000Z"),
            ("1969-12-31T23:59:59.25Z", "-0.75", "1969-12-31T23:59:59.250Z"),
            ("0000-01-01T00:00:00Z", "-62167219200", "0000-01-01T00:00:00.000Z"),
            ("0000-03-01T00:00:00Z", "-62162035200", "0000-03-01T00:00:00.000Z"),
            ("9999-12-31T23:59:60Z", "253402300800", "10000-01-01T00:00:00.000Z"),
            ("2024-01-01T00:00:00+01:30", "1704061800", "2024-01-01T00:00:00.000+01:30"),
            ("2024-01-01T00:00:00-0930", "1704101400", "2024-01-01T00:00:00.000-09:30"),
            ("2024-01-01T00:00:00+05", "1704049200", "2024-01-01T00:00:00.000+05:00"),
            ("2024-01-01T00:00:00-00:01", "1704067260", "2024-01-01T00:00:00.000-00:01"),
            ("2024-01-01T12:30", "1704112200", "2024-01-01T12:30:00.000"),
            ("2024-01-01T24:00:00Z", "1704153600", "2024-01-02T00:00:00.000Z"),
            (" 2024-12-31T00:00:00\t", "1735603200", "2024-12-31T00:00:00.000"),
            ("2024-01-31T00:00:00Z", "1706659200", "2024-01-31T00:00:00.000Z"),
            ("2100-02-28T00:00:00Z", "4107456000", "2100-02-28T00:00:00.000Z"),
            ("2100-03-01T00:00:00Z", "4107542400", "2100-03-01T00:00:00.000Z"),
            ("2400-02-29T00:00:00Z", "13574563200", "2400-02-29T00:00:00.000Z"),
        ]
    )
    func datesAreParsedAndFormatted(text: String, seconds: String, written: String) throws {
        let date = try #require(ProgramDateTime(text))
        #expect(date.sinceEpoch.description == seconds && date.description == written)
    }

    @Test(arguments: [
        "", "2024", "2024-01-01", "2024-00-01T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-00T00:00:00Z",
        "2024-01-32T00:00:00Z", "2024-01-01T25:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z",
        "2024-01-01T00:00:Z", "2024-01-01T00:00:00X", "2024-01-01T00:00:00+1", "2024-01-01T00:00:00ZZ",
        "2024-01-01T00:00:00+01:0", "2024-01-01X00:00:00Z", "24-01-01T00:00:00Z", "2024-1-1T00:00:00Z",
        "2024/01/01T00:00:00Z", "2024-01/01T00:00:00Z", "2024-01-01T00.00:00Z", "2024-01-01T00Z",
        "2024-01-01T0a:00:00Z",
        "2024-01-01T00:0:/0Z", "2024-01-01T00:00:00.1.2Z",
    ])
    func invalidDateIsRejected(text: String) { #expect(ProgramDateTime(text) == nil) }

    @Test func consecutiveDaysAreFormattedCorrectly() throws {
        let first = try #require(ProgramDateTime("1899-12-31T00:00:00Z"))
        var expected = (year: 1899, month: 12, day: 31)
        var date = first
        for _ in 0..<40_000 {
            let text = date.description
            let digits = { (number: Int, width: Int) in
                String(repeating: "0", count: width - String(number).count) + String(number)
            }
            guard
                text
                    == "\(digits(expected.year, 4))-\(digits(expected.month, 2))-\(digits(expected.day, 2))T00:00:00.000Z"
            else {
                Issue.record("\(text), but it is \(expected)")
                return
            }
            let isLeap = expected.year % 4 == 0 && expected.year % 100 != 0 || expected.year % 400 == 0
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            expected.day += 1
            if expected.day > lengths[expected.month - 1] { (expected.month, expected.day) = (expected.month + 1, 1) }
            if expected.month > 12 { (expected.year, expected.month) = (expected.year + 1, 1) }
            date = date.advanced(by: MediaTime(seconds: 86_400))
        }
    }

    /// Dates are clamped to 2^60 seconds before and after 1970.
    @Test func distantDatesAreClamped() {
        let limit = ProgramDateTime(sinceEpoch: MediaTime(seconds: 1 << 60)).description
        let past = ProgramDateTime(sinceEpoch: MediaTime(seconds: -(1 << 60)), zoneMinutes: nil).description
        let farthest = ProgramDateTime(sinceEpoch: MediaTime(seconds: .max)).description
        #expect(limit == "36534630048-05-13T13:56:16.000Z")
        #expect(past == "-36534626109-08-20T10:03:44.000")
        #expect(farthest.hasPrefix("36534630048-05-13T13:56:16."))
    }

    @Test(
        arguments: [
            ("5", 5, nil), ("5@0", 5, 0), (" 5 @ 7 ", 5, 7), ("0", 0, nil), ("9223372036854775807@1", .max, 1),
            ("5@9223372036854775807", 5, .max), ("05@07", 5, 7),
        ] as [(String, Int64, Int64?)]
    )
    func byteRangesAreParsed(text: String, length: Int64, start: Int64?) throws {
        let range = try #require(WrittenByteRange(text))
        #expect(range.length == length && range.start == start)
        #expect(range.range == start.flatMap { ByteRange(start: $0, length: length) })
    }

    @Test(arguments: [
        "", " ", "@", "5@", "@5", "5@5@5", "5x", "5@5x", "5 5", "5@5 5", "-5", "+5", "5@-1", "9223372036854775808",
        "5@9223372036854775808", "5/5",
    ])
    func invalidByteRangeIsRejected(text: String) { #expect(WrittenByteRange(text) == nil) }

    @Test(
        arguments: [
            ("1280x720", 1280, 720), ("1X2", 1, 2), ("0x0", 0, 0), ("999999999x1", 999_999_999, 1),
        ]
    )
    func resolutionsAreParsed(text: String, width: Int, height: Int) throws {
        let list = AttributeList(Array("R=\(text)".utf8), in: 0..<(text.utf8.count + 2))
        #expect(list.resolution("R") == Resolution(width: width, height: height))
        #expect(Resolution(text) == Resolution(width: width, height: height))
    }

    @Test(arguments: ["", "x", "1x", "x1", "1x2x3", "1 x2", "1x2 y", "1y2", "1", "-1x2", "1x-2", "1\u{58}\u{301}2"])
    func invalidResolutionIsRejected(text: String) {
        let list = AttributeList(Array("R=\(text)".utf8), in: 0..<(text.utf8.count + 2))
        #expect(list.resolution("R") == nil && Resolution(text) == nil && list.resolution("S") == nil)
    }

    @Test func resolutionWithMoreThanNineDigitsIsRejected() {
        let text = "R=1000000000x1,S=1x1000000000"
        let list = AttributeList(Array(text.utf8), in: 0..<text.utf8.count)
        #expect(list.resolution("R") == nil && list.resolution("S") == nil)
    }

    @Test(
        arguments: [
            ("0x0", [0]), ("0X1f", [0x1F]), ("0x123", [0x01, 0x23]), ("0xaAfF09", [0xAA, 0xFF, 0x09]), ("0x", nil),
            ("", nil),
            ("1x00", nil), ("0y00", nil), ("0x0g", nil), ("0x0G", nil), ("0x0/", nil), ("0x0:", nil), ("0x0@", nil),
            ("0x0`", nil), ("00", nil),
        ] as [(String, [UInt8]?)]
    )
    func hexadecimalSequencesAreParsed(text: String, octets: [UInt8]?) {
        #expect(HexadecimalSequence.octets(text) == octets)
    }

    @Test func initializationVectorIsExplicitOrSequenceNumber() throws {
        func key(_ text: String) throws -> EncryptionKey {
            let text = "METHOD=AES-128" + text
            return try #require(
                EncryptionKey(AttributeList(Array(text.utf8), in: 0..<text.utf8.count), context: PlaylistContext())
            )
        }
        let zeros = [UInt8](repeating: 0, count: 8)
        #expect(try key("").vector(forSequence: 0x0102_0304_0506_0708) == zeros + [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(try key("").vector(forSequence: .max) == zeros + [0x7F] + [UInt8](repeating: 0xFF, count: 7))
        #expect(try key(",IV=0x1").vector(forSequence: 9) == zeros + [0, 0, 0, 0, 0, 0, 0, 1])
        let digits = "000102030405060708090A0B0C0D0E0F"
        #expect(try key(",IV=0x\(digits)").vector(forSequence: 9) == (0...15).map { UInt8($0) })
        #expect(try key(",IV=0x1\(digits)").vector(forSequence: 9) == nil)
        #expect(try key(",IV=x").vector(forSequence: 9) == nil)
        #expect(try key("").isIdentity && key(",KEYFORMAT=\"\"").isIdentity && !key(",KEYFORMAT=\"a\"").isIdentity)
        #expect(
            try key("").keyFormatVersions == [1] && key(",KEYFORMATVERSIONS=\"2/x/3\"").keyFormatVersions == [2, 3]
        )
    }

    @Test(
        arguments: [
            ("2", 2, [], []), ("16/JOC", 16, ["JOC"], []), ("2/-/BINAURAL, DOWNMIX", 2, [], ["BINAURAL", "DOWNMIX"]),
            ("9/3OA,-/-/x", 9, ["3OA"], []), ("4294967295", 4_294_967_295, [], []),
        ] as [(String, Int64, [String], [String])]
    )
    func channelsAreParsed(text: String, count: Int64, formats: [String], usages: [String]) throws {
        let channels = try #require(AudioChannels(text))
        #expect(channels.count == count && channels.spatialFormats == formats && channels.usages == usages)
    }

    @Test(arguments: ["", "x", "-1", "4294967296", "/JOC"])
    func invalidChannelsAreRejected(text: String) { #expect(AudioChannels(text) == nil) }

    @Test(
        arguments: [
            ("", UnexpectedContent.empty), (" \t\r\n", .empty), ("....ftyp", .mp4), ("....styp", .mp4),
            ("....moof", .mp4), ("....moov", .mp4), ("....sidx", .mp4), ("....mdat", nil), ("....fty", nil),
            (".....ftyp", nil), ("<?xml?><MPD>", .dashManifest), ("<!DOCTYPE html>", .webPage), ("<HTML>", .webPage),
            ("x<head>", .webPage), ("<body class", .webPage), ("<heading>", nil), ("text", nil),
        ] as [(String, UnexpectedContent?)]
    )
    func otherContentIsRecognized(text: String, content: UnexpectedContent?) {
        #expect(UnexpectedContent(Array(text.utf8)) == content)
        #expect(throws: PlaylistParsingError.notAPlaylist(content: content)) { try Playlist.parse(Array(text.utf8)) }
    }

    @Test func transportStreamsAreRecognizedByTwoPackets() {
        var bytes = [UInt8](repeating: 0xFF, count: 189)
        (bytes[0], bytes[188]) = (0x47, 0x47)
        #expect(UnexpectedContent(bytes) == .transportStream)
        #expect(UnexpectedContent(Array(bytes.dropLast())) == nil)
        (bytes[0], bytes[188]) = (0x47, 0x48)
        #expect(UnexpectedContent(bytes) == nil)
        (bytes[0], bytes[188]) = (0x48, 0x47)
        #expect(UnexpectedContent(bytes) == nil)
        // Only the first bytes are examined.
        let late = [UInt8](repeating: UInt8(ascii: "x"), count: 4092)
        #expect(UnexpectedContent(late + Array("<MPD".utf8)) == .dashManifest)
        #expect(UnexpectedContent(late + Array("x<MPD".utf8)) == nil)
    }

    @Test(
        arguments: [
            (
                .notAPlaylist(content: nil), "not-a-playlist",
                "not an HLS playlist: it does not begin with #EXTM3U"
            ),
            (.notAPlaylist(content: .dashManifest), "dash", "a DASH manifest, not an HLS playlist"),
            (.notAPlaylist(content: .empty), "not-a-playlist", "empty, not an HLS playlist"),
            (
                .unexpectedKind(found: .media), "unexpected-playlist-kind",
                "a media playlist, but the other kind was expected"
            ),
            (
                .limitExceeded(.lineLength(5), line: 7), "limit-exceeded",
                "line 7: the line is longer than 5 bytes"
            ),
            (
                .limitExceeded(.entryCount(5), line: 7), "limit-exceeded",
                "line 7: the playlist has more than 5 entries"
            ),
            (
                .undeclaredImport(String(repeating: "a", count: 65)), "import-undeclared",
                "the playlist imports the variable \"\(String(repeating: "a", count: 64))\", "
                    + "which no multivariant playlist defines"
            ),
            (
                .missingQueryParameter("token"), "query-parameter-missing",
                "the URL of the multivariant playlist has no parameter \"token\", which EXT-X-DEFINE:QUERYPARAM needs"
            ),
        ] as [(PlaylistParsingError, String, String)]
    )
    func parsingErrorsHaveCodeAndMessage(error: PlaylistParsingError, code: String, message: String) {
        #expect(error.code.rawValue == code && error.description == message)
    }

    @Test func parsingLimitsAreExact() throws {
        let media = Array("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\na\n#EXTINF:1,\nb\n".utf8)
        let variants = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb\n".utf8)
        for (bytes, entries, line, longest) in [(media, 4, 6, 17), (variants, 5, 5, 30)] {
            #expect(throws: Never.self) { try Playlist.parse(bytes, limits: PlaylistLimits(byteCount: bytes.count)) }
            #expect(throws: PlaylistParsingError.limitExceeded(.byteCount(bytes.count - 1), line: 1)) {
                try Playlist.parse(bytes, limits: PlaylistLimits(byteCount: bytes.count - 1))
            }
            #expect(throws: Never.self) { try Playlist.parse(bytes, limits: PlaylistLimits(entryCount: entries)) }
            #expect(throws: PlaylistParsingError.limitExceeded(.entryCount(entries - 1), line: line)) {
                try Playlist.parse(bytes, limits: PlaylistLimits(entryCount: entries - 1))
            }
            #expect(throws: Never.self) { try Playlist.parse(bytes, limits: PlaylistLimits(lineLength: longest)) }
            #expect(throws: PlaylistParsingError.limitExceeded(.lineLength(longest - 1), line: 2)) {
                try Playlist.parse(bytes, limits: PlaylistLimits(lineLength: longest - 1))
            }
        }
        let limits = PlaylistLimits()
        #expect(limits.byteCount == 268_435_456 && limits.lineLength == 16_777_216 && limits.entryCount == 4_000_000)
        var wide = PlaylistLimits(byteCount: .max)
        #expect(wide.byteCount == 4_294_967_295)
        wide.byteCount = 4_294_967_296
        #expect(wide.byteCount == 4_294_967_295)
        wide.byteCount = 5
        #expect(wide.byteCount == 5)
    }

    @Test func variableExpansionIsLimited() {
        #expect(PlaylistVariables.maximumGrowth(byteCount: 0, entryCount: 0) == 8_192)
        #expect(PlaylistVariables.maximumGrowth(byteCount: 0, entryCount: 67_108_864) == 1)
        #expect(PlaylistVariables.maximumGrowth(byteCount: 16_777_216, entryCount: 67_108_864) == 2)
        #expect(PlaylistVariables.maximumGrowth(byteCount: 0, entryCount: 67_108_865) == 0)
        func variables(_ value: String, growth: Int) -> PlaylistVariables {
            let text = "NAME=\"v\",VALUE=\"\(value)\""
            return PlaylistVariables(
                [AttributeList(Array(text.utf8), in: 0..<text.utf8.count)],
                context: PlaylistContext(),
                maximumGrowth: growth
            )
        }
        let long = String(repeating: "x", count: 14)
        #expect(variables(long, growth: 10).substitute("{$v}") == long)
        #expect(variables(long, growth: 9).substitute("{$v}") == "{$v}")
        #expect(variables("1", growth: 0).substitute("a{$v}b{$v}{$w}{v}{$v") == "a1b1{$w}{v}{$v")
        #expect(variables("1", growth: 0).substitute("{$v}}{$ {$v}{") == "1}{$ 1{")
    }
}
