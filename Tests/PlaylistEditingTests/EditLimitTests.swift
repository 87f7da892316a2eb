import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests that an edit whose result is too large or cannot be written fails and never returns the unedited playlist.
@Suite struct EditLimitTests {
    private let limits = PlaylistLimits(byteCount: 400)

    private func media(_ segments: Int, at address: String? = nil) throws -> MediaPlaylist {
        let lines = (0..<segments).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        return try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n".utf8),
            context: PlaylistContext(address: address.map { ResourceAddress($0) })
        )
    }

    private func expectTooLarge(_ edit: () throws -> Void) {
        let error = #expect(throws: PlaylistEditError.self) { try edit() }
        #expect(error == .tooLarge(.byteCount(400)))
    }

    @Test func stitchedPlaylistBeyondLimitIsRejected() throws {
        let playlist = try media(14)
        #expect(playlist.bytes.count < 400 && playlist.bytes.count > 200)
        expectTooLarge { _ = try playlist.appending(playlist, limits: limits) }
        expectTooLarge { _ = try playlist.prepending(playlist, limits: limits) }
        expectTooLarge { _ = try playlist.inserting(playlist, at: MediaTime(seconds: 8), limits: limits) }
        #expect(try playlist.appending(try media(2), limits: limits).segments.count == 16)
    }

    @Test func limitAppliesToEachIntermediateResult() throws {
        let playlist = try media(6)
        let plan = EditPlan([.append("o"), .append("o"), .append("o"), .duration(MediaTime(seconds: 4))])
        expectTooLarge { _ = try plan.applied(to: playlist, sources: ["o": playlist], limits: limits) }
        #expect(try plan.applied(to: playlist, sources: ["o": playlist]).segments.count == 1)
    }

    @Test func rewrittenAddressesBeyondLimitAreRejected() throws {
        let playlist = try media(10, at: "https://example.com/a/long/path/of/folders/list.m3u8")
        expectTooLarge { _ = try playlist.withAbsoluteAddresses(limits: limits) }
        expectTooLarge {
            _ = try Playlist.media(playlist).rewritingAddresses(limits: limits) {
                "https://example.com/very/long/" + $0.uri
            }
        }
        expectTooLarge { _ = try EditPlan([.absolute]).applied(to: playlist, limits: limits) }
        #expect(try playlist.withAbsoluteAddresses().segments[0].uri.hasPrefix("https://example.com/a/"))
    }

    @Test func canonicalFormBeyondLimitIsRejected() throws {
        // The canonical form adds the missing durations.
        let lines = (0..<14).map { "#EXTINF\n\($0).ts\n" }.joined()
        let playlist = try MediaPlaylist(parsing: Array("#EXTM3U\n\(lines)".utf8))
        let limits = PlaylistLimits(byteCount: playlist.bytes.count)
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(limits.byteCount))) {
            try EditPlan([.canonical]).applied(to: playlist, limits: limits)
        }
        #expect(throws: PlaylistParsingError.self) { try Playlist.media(playlist).canonical(limits: limits) }
    }

    @Test func tooManyEntriesAreRejected() throws {
        let playlist = try media(10)
        let limits = PlaylistLimits(entryCount: 15)
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(15))) {
            try playlist.appending(playlist, limits: limits)
        }
    }

    @Test func limitAppliesToMultivariantPlaylists() throws {
        let playlist = try MultivariantPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n".utf8),
            context: PlaylistContext(address: ResourceAddress("https://example.com/long/path/of/folders/list.m3u8"))
        )
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(60))) {
            try EditPlan([.absolute]).applied(to: playlist, limits: PlaylistLimits(byteCount: 60))
        }
    }

    @Test(arguments: ["", "#fragment", "#EXTINF:9,"])
    func invalidAddressCannotBeWritten(address: String) throws {
        let playlist = Playlist.media(try media(1))
        #expect(throws: PlaylistEditError.unwritableAddress(address)) {
            try playlist.rewritingAddresses { _ in address }
        }
    }

    @Test(arguments: [
        ("a\nb", "a%0Ab"), ("a\rb", "a%0Db"), ("\u{1}\u{7F}", "%01%7F"), ("a\"b", "a%22b"), (" a b ", "%20a b%20"),
        ("\u{E9}?q=1", "\u{E9}?q=1"),
    ])
    func reservedCharactersInAddressArePercentEncoded(address: String, written: String) throws {
        let playlist = try Playlist.parse(Array("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=k\n#EXTINF:4,\n0.ts\n".utf8))
        let moved = try playlist.rewritingAddresses { _ in address }
        #expect(moved.addresses.map(\.uri) == [written, written])
    }

    @Test func errorStatesTheLimit() {
        let error = PlaylistEditError.tooLarge(.byteCount(400))
        #expect(error.code == .tooLarge && error.description.contains("400 bytes"))
        #expect(PlaylistEditError.unwritableAddress("#x").code.rawValue == "unwritable-address")
        #expect(PlaylistEditError.unreadableResult(edit: "e", reason: "r").description == "the result of e would be r")
    }

    @Test func gapDurationIsLimited() throws {
        #expect(try GapPlaylist.address(of: MediaTime(seconds: 100_000)) == "gap:100000")
        for seconds: Int64 in [0, 100_001] {
            #expect(throws: PlaylistEditError.self) { try GapPlaylist.address(of: MediaTime(seconds: seconds)) }
            #expect(GapPlaylist.playlist(at: "gap:\(seconds)") == nil)
        }
        #expect(GapPlaylist.playlist(at: "gap:25")?.segments.map(\.duration.description) == ["10", "10", "5"])
    }
}

@Suite struct StitchMatchingTests {
    private func presentation(_ lines: [String]) throws -> MultivariantPlaylist {
        try MultivariantPlaylist(parsing: Array(("#EXTM3U\n" + lines.joined(separator: "\n") + "\n").utf8))
    }

    private func variant(_ height: Int?, _ rate: Int, _ uri: String, isIFrames: Bool = false) -> [String] {
        let size = height.map { ",RESOLUTION=\($0 * 2)x\($0)" } ?? ""
        return isIFrames
            ? ["#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=\(rate)\(size),URI=\"\(uri)\""]
            : ["#EXT-X-STREAM-INF:BANDWIDTH=\(rate)\(size)", uri]
    }

    /// Returns the expected match: of the tallest variants that are not taller, the last whose bit rate is not higher.
    private func expected(_ height: Int?, _ rate: Int, in others: [(height: Int?, rate: Int)]) -> Int? {
        let all = others.indices.sorted { others[$0].rate < others[$1].rate }
        guard let height, others.contains(where: { $0.height != nil }) else {
            return all.last { others[$0].rate <= rate } ?? all.first
        }
        let sized = all.filter { others[$0].height != nil }
        let tallest = sized.compactMap { others[$0].height }.filter { $0 <= height }.max()
        let least = sized.compactMap { others[$0].height }.min()
        guard let tallest else { return sized.first { others[$0].height == least } }
        let same = sized.filter { others[$0].height == tallest }
        return same.last { others[$0].rate <= rate } ?? same.first
    }

    @Test(arguments: [false, true])
    func variantsAreMatchedByHeightThenBitRate(isIFrames: Bool) throws {
        let heights: [Int?] = [nil, 360, 480, 720]
        let ladders: [[(height: Int?, rate: Int)]] = [
            [(360, 10), (360, 20), (720, 30), (720, 40)], [(nil, 10), (480, 25), (nil, 40)], [(nil, 30), (nil, 10)],
            [(720, 50)], [(360, 40), (480, 10), (480, 30), (720, 5)], [(480, 10), (480, 10), (480, 25), (480, 25)],
            [(nil, 10), (nil, 10), (nil, 25), (nil, 25)],
        ]
        for ladder in ladders {
            let other = try presentation(
                ladder.enumerated().flatMap { variant($1.height, $1.rate, "o\($0)", isIFrames: isIFrames) } + [
                    "#EXT-X-MEDIA:X"
                ]
            )
            let matching = StitchMatching(other)
            for height in heights {
                for rate in [1, 10, 15, 20, 25, 30, 39, 40, 100] {
                    let own = try presentation(variant(height, rate, "v", isIFrames: isIFrames) + ["#EXT-X-MEDIA:X"])
                    let subject = try #require(isIFrames ? own.iFrameVariants.first : own.variants.first)
                    let wanted = expected(height, rate, in: ladder).map { "o\($0)" }
                    #expect(matching.address(for: subject)?.text == wanted, "\(ladder), \(height ?? 0), \(rate)")
                }
            }
        }
    }

    private func rendition(_ attributes: String) throws -> Rendition {
        try #require(try presentation(["#EXT-X-MEDIA:GROUP-ID=\"g\",NAME=\"n\",\(attributes)"]).renditions.first)
    }

    @Test func renditionsAreMatchedByLanguageThenDefaultThenOrder() throws {
        let matching = StitchMatching(
            try presentation([
                "#EXT-X-MEDIA:TYPE=AUDIO,LANGUAGE=\"de\",URI=\"de\"", "#EXT-X-MEDIA:TYPE=AUDIO,LANGUAGE=\"en\"",
                "#EXT-X-MEDIA:TYPE=AUDIO,LANGUAGE=\"fr\",URI=\"fr\",DEFAULT=YES",
                "#EXT-X-MEDIA:TYPE=AUDIO,LANGUAGE=\"fr\",URI=\"fr2\"",
                "#EXT-X-MEDIA:TYPE=SUBTITLES,LANGUAGE=\"de\",URI=\"sub\"", "#EXT-X-MEDIA:TYPE=VIDEO,URI=\"angle\"",
                "#EXT-X-STREAM-INF:BANDWIDTH=9", "v9", "#EXT-X-STREAM-INF:BANDWIDTH=3", "v3",
            ])
        )
        #expect(matching.lowestBitRateVariant?.text == "v3")
        #expect(matching.address(for: try rendition("TYPE=AUDIO,LANGUAGE=\"de\",URI=\"x\""))?.text == "de")
        #expect(matching.address(for: try rendition("TYPE=AUDIO,LANGUAGE=\"fr\",URI=\"x\""))?.text == "fr")
        // The English rendition of the other presentation has no URI.
        #expect(matching.address(for: try rendition("TYPE=AUDIO,LANGUAGE=\"en\",URI=\"x\""))?.text == "fr")
        #expect(matching.address(for: try rendition("TYPE=AUDIO,URI=\"x\""))?.text == "fr")
        #expect(matching.address(for: try rendition("TYPE=SUBTITLES,LANGUAGE=\"de\",URI=\"x\""))?.text == "sub")
        #expect(matching.address(for: try rendition("TYPE=SUBTITLES,LANGUAGE=\"en\",URI=\"x\"")) == nil)
        #expect(matching.address(for: try rendition("TYPE=SUBTITLES,URI=\"x\"")) == nil)
        #expect(matching.address(for: try rendition("TYPE=VIDEO,LANGUAGE=\"en\",URI=\"x\""))?.text == "angle")
    }

    @Test func firstOfSeveralMatchingRenditionsIsUsed() throws {
        func match(_ lines: [String]) throws -> String? {
            StitchMatching(try presentation(lines)).address(for: try rendition("TYPE=AUDIO,LANGUAGE=\"xx\",URI=\"x\""))?
                .text
        }
        let plain = ["#EXT-X-MEDIA:TYPE=AUDIO,URI=\"a\"", "#EXT-X-MEDIA:TYPE=AUDIO,URI=\"b\""]
        #expect(try match(plain) == "a")
        let preferred = [
            "#EXT-X-MEDIA:TYPE=AUDIO,DEFAULT=YES,URI=\"c\"", "#EXT-X-MEDIA:TYPE=AUDIO,DEFAULT=YES,URI=\"d\"",
        ]
        #expect(try match(plain + preferred) == "c")
        let spoken = [
            "#EXT-X-MEDIA:TYPE=AUDIO,LANGUAGE=\"xx\",URI=\"e\"", "#EXT-X-MEDIA:TYPE=AUDIO,LANGUAGE=\"xx\",URI=\"f\"",
        ]
        #expect(try match(plain + preferred + spoken) == "e")
    }

    @Test func audioWithoutRenditionsComesFromLowestBitRateVariant() throws {
        let matching = StitchMatching(
            try presentation(["#EXT-X-STREAM-INF:BANDWIDTH=9", "v9", "#EXT-X-STREAM-INF:BANDWIDTH=3", "v3"])
        )
        #expect(matching.address(for: try rendition("TYPE=AUDIO,URI=\"x\""))?.text == "v3")
        #expect(matching.address(for: try rendition("TYPE=VIDEO,URI=\"x\"")) == nil)
        #expect(matching.address(for: try rendition("TYPE=SUBTITLES,URI=\"x\"")) == nil)
    }
}

@Suite struct VariantLimitTests {
    private let text = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360
        low
        #EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=1280x720
        high
        #EXT-X-STREAM-INF:BANDWIDTH=100
        sound
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=10,RESOLUTION=640x360,URI="i360"
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=20,RESOLUTION=641x361,URI="i361"
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=30,URI="i"

        """

    @Test func heightLimitIsInclusive() throws {
        let limited = try MultivariantPlaylist(parsing: Array(text.utf8)).limited(toHeight: 360)
        #expect(limited.variants.map(\.uri) == ["low", "sound"])
        #expect(limited.iFrameVariants.map(\.uri) == ["i360", "i"])
    }

    @Test func heightLimitOfZeroKeepsVariantsWithoutVideo() throws {
        let limited = try MultivariantPlaylist(parsing: Array(text.utf8)).limited(toHeight: 0)
        #expect(limited.variants.map(\.uri) == ["sound"] && limited.iFrameVariants.count == 3)
        // An I-frame variant without a resolution is not larger than any other variant.
        let flat = text.replacing("640x360\nlow", with: "640x0\nlow")
        let low = try MultivariantPlaylist(parsing: Array(flat.utf8)).limited(toHeight: 0)
        #expect(low.variants.map(\.uri) == ["low", "sound"] && low.iFrameVariants.map(\.uri) == ["i"])
    }

    /// Blank lines before a removed variant are removed as well, up to the beginning of the playlist.
    @Test(arguments: [
        ("\n", ""), ("\n\n", ""), (" \n\t\r\n", ""), ("#\n", "#\n"), ("#\n\n", "#\n"), ("\n#\n\n", "\n#\n"),
    ])
    func blankLinesBeforeRemovedVariantAreRemoved(before: String, left: String) throws {
        let variants = "#EXT-X-STREAM-INF:BANDWIDTH=9\na\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb\n"
        let playlist = try MultivariantPlaylist(parsing: Array((before + variants).utf8))
        let limited = try playlist.limited(to: PartialRange(low: nil, high: BitRate(bitsPerSecond: 1)))
        #expect(String(decoding: limited.bytes, as: UTF8.self) == left + "#EXT-X-STREAM-INF:BANDWIDTH=1\nb\n")
    }

    @Test func bitRateLimitIsInclusive() throws {
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let range = try #require(PartialRange<BitRate>("1000...2000"))
        #expect(try playlist.limited(to: range).variants.map(\.uri) == ["low", "high"])
        let low = try #require(PartialRange<BitRate>("...1000"))
        #expect(try playlist.limited(to: low).variants.map(\.uri) == ["low", "sound"])
        #expect(try playlist.limited(to: low).iFrameVariants.map(\.uri) == ["i360", "i"])
        let audio = try #require(PartialRange<BitRate>("...100"))
        // Without video among the variants, there is no height to compare I-frame variants with.
        #expect(try playlist.limited(to: audio).iFrameVariants.count == 3)
        #expect(throws: PlaylistEditError.self) {
            try playlist.limited(to: try #require(PartialRange<BitRate>("3000...")))
        }
    }
}
