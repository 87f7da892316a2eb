import MediaTiming
import ResourceAddressing
import Testing

@testable import HLSPlaylist

/// Tests of the limits and defaults of values that are derived from a playlist.
@Suite struct PlaylistValueFaultTests {
    // MARK: Languages

    @Test(
        arguments: [
            ("*", "en", 0), ("*", "", 0), ("", "en", nil), ("en", "", nil), ("en-GB", "en-US", 3),
            ("zh-x-a", "zh-x-a", 0), ("zh-x-a", "zh", 1), ("zh-x-a", "zh-x-a-b", 2), ("zh-x-a", "zh-x", 3),
            ("x-a", "x", 1), ("en-GB-a-b", "en", 2), ("en-GB-a-b", "en-GB", 1),
        ] as [(String, String, Int?)]
    )
    func singleLettersAreRemovedWithTheNextSubtag(range: String, tag: String, distance: Int?) {
        #expect(LanguageMatching.distance(from: range, to: tag) == distance)
    }

    @Test func tagIsSplitAtSixteenSeparators() {
        let tag = Array(repeating: "ab", count: 17)
        let joined = tag.joined(separator: "-")
        #expect(LanguageMatching.canonical(tag.joined(separator: "_")) == joined)
        #expect(LanguageMatching.canonical(tag.joined(separator: "_") + "_ab") == joined + "_ab")
    }

    @Test(
        arguments: [
            (["*"], "en", true), (["en-GB"], "en", false), (["en-GB"], "en-US", false), (["en-GB"], "en-GB-x", true),
            ([""], "en", false), ([], "en", false), (["de", "EN"], "eng-US", true), (["en"], "", false),
        ] as [([String], String, Bool)]
    )
    func rangesIncludeTags(ranges: [String], tag: String, isIncluded: Bool) {
        #expect(LanguageRanges(ranges).includes(tag) == isIncluded)
    }

    // MARK: Codecs

    @Test(
        arguments: [
            (["fLaC"], true), (["mp4a.40.2", "alac"], true), (["mlpa"], true), (["ipcm"], true), (["fpcm.1"], true),
            (["mp4a.40.2"], false), ([], false), (["flacs"], false),
        ] as [([String], Bool)]
    )
    func losslessCodecsAreRecognized(names: [String], isLossless: Bool) {
        #expect(CodecList(names).hasLosslessAudio == isLossless)
    }

    @Test(
        arguments: [
            ("avc1.64", [.video]), ("AVC1", [.video]), ("AV", [.video]), ("avc1x", [nil]), ("a", [.video, .audio]),
            ("mp4", [.video, .audio]), ("s", [.video, .audio, .subtitles]), ("t", [.subtitles]), ("zz", [nil]),
        ] as [(String, Set<CodecList.MediaType?>)]
    )
    func beginningsOfCodecsHaveMediaTypes(text: String, types: Set<CodecList.MediaType?>) {
        #expect(CodecList.mediaTypes(ofCodecsBeginningWith: text) == types)
    }

    @Test func codecsAreGroupedByMediaType() {
        let list = CodecList(["wvtt", "x", "mp4a.40.2", "AV01.0", "ec-3"])
        #expect(list.video == ["AV01.0"] && list.audio == ["mp4a.40.2", "ec-3"])
        #expect(list.subtitles == ["wvtt"] && list.other == ["x"])
        #expect(list.all == ["wvtt", "x", "mp4a.40.2", "AV01.0", "ec-3"])
        #expect(!list.isEmpty && CodecList([]).isEmpty)
    }

    // MARK: Variants

    @Test func contentProtectionEndsAtTheLastColon() {
        let configuration = ContentProtectionConfiguration("a:b:X/Y")
        #expect(configuration?.keyFormat == "a:b" && configuration?.labels == ["X", "Y"])
        let bare = ContentProtectionConfiguration(":")
        #expect(bare?.keyFormat == "" && bare?.labels == [])
        #expect(ContentProtectionConfiguration("x") == nil)
    }

    @Test(
        arguments: [
            ("CLOSED-CAPTIONS=NONE", .closedCaptions, nil), ("CLOSED-CAPTIONS=\"NONE\"", .closedCaptions, "NONE"),
            ("CLOSED-CAPTIONS=\"c\"", .closedCaptions, "c"), ("AUDIO=NONE", .audio, "NONE"), ("X=1", .audio, nil),
        ] as [(String, Rendition.MediaType, String?)]
    )
    func onlyUnquotedNoneOfCaptionsNamesNoGroup(attributes: String, type: Rendition.MediaType, id: String?) throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,\(attributes)\nv.m3u8\n"
        let playlist = try MultivariantPlaylist(parsing: Array(text.utf8))
        let variant = try #require(playlist.variants.first)
        #expect(variant.groupID(type) == id)
    }

    // MARK: Errors

    @Test func missingParameterHasAHint() {
        let name = String(repeating: "a", count: 64)
        let hint = "add ?\(name)=VALUE to the URL; name a local file as file:///PATH?\(name)=VALUE"
        #expect(PlaylistParsingError.missingQueryParameter(name).hint == hint)
        #expect(PlaylistParsingError.missingQueryParameter(name + "b").hint == hint)
        #expect(PlaylistParsingError.undeclaredImport(name).hint == nil)
    }

    // MARK: Patches

    /// Returns the text `abcdef` with replacements, or a part of it.
    private func patched(_ replacements: [(Range<Int>, String)], in range: Range<Int>? = nil) -> String {
        var patch = PlaylistPatch()
        for (replaced, text) in replacements { patch.replace(replaced, with: text) }
        #expect(patch.isEmpty == replacements.isEmpty)
        return String(decoding: patch.applied(to: Array("abcdef".utf8), in: range), as: UTF8.self)
    }

    @Test func replacementsAreAppliedInTheOrderOfTheirRanges() {
        #expect(patched([]) == "abcdef")
        #expect(patched([(4..<5, "X"), (1..<2, "YY"), (5..<6, "Z"), (0..<0, "_")]) == "_aYYcdXZ")
        #expect(patched([(2..<2, "1"), (2..<2, "2")]) == "ab12cdef")
        #expect(patched([(6..<6, "Z")]) == "abcdefZ")
        // Bytes in several ranges are removed once.
        #expect(patched([(1..<4, ""), (2..<5, "")]) == "af" && patched([(1..<5, ""), (2..<3, "")]) == "af")
        // Only the replacements inside a part are applied to it.
        #expect(patched([(0..<1, ""), (1..<2, "X"), (3..<4, "Y"), (3..<5, "")], in: 1..<4) == "XcY")
        #expect(patched([(1..<1, "X"), (4..<4, "Z")], in: 1..<4) == "XbcdZ")
    }

    // MARK: Variables

    private func variables(
        _ definitions: [String],
        at url: String? = nil,
        imports: [String: String] = [:]
    ) -> PlaylistVariables {
        PlaylistVariables(
            definitions.map { text in AttributeList(Array(text.utf8), in: 0..<text.utf8.count) },
            context: PlaylistContext(address: url.map { ResourceAddress($0) }, importableVariables: imports)
        )
    }

    @Test(arguments: [(256, true), (257, false)])
    func namesOfVariablesAreLimited(length: Int, isReplaced: Bool) {
        let name = String(repeating: "n", count: length)
        let values = variables(["NAME=\"\(name)\",VALUE=\"1\""])
        #expect(values.substitute("{$\(name)}") == (isReplaced ? "1" : "{$\(name)}"))
    }

    @Test func numberOfVariablesIsLimited() {
        let values = variables((1...1_001).map { "NAME=\"v\($0)\",VALUE=\"x\"" }).values
        #expect(values.count == 1_000 && values["v1000"] == "x" && values["v1001"] == nil)
    }

    @Test func firstDefinitionOfAVariableApplies() {
        let list = [
            "NAME=\"a\",VALUE=\"1\"", "NAME=\"a\",VALUE=\"2\"", "IMPORT=\"a\"", "QUERYPARAM=\"a\"", "NAME=\"b\"",
        ]
        let named = variables(list, at: "https://h/m?a=4", imports: ["a": "3"])
        #expect(named.values == ["a": "1", "b": ""])
        #expect(named.undefinedImport == nil && named.missingParameter == nil)
        let imported = variables(Array(list[2...3]), at: "https://h/m?a=4", imports: ["a": "3"])
        #expect(imported.values == ["a": "3"])
        let queried = variables([list[3], list[2]], at: "https://h/m?a=4", imports: ["a": "3"])
        #expect(queried.values == ["a": "4"])
    }

    @Test func firstMissingVariableIsNamed() {
        let list = ["a", "b", "c"].map { "IMPORT=\"\($0)\"" } + ["d", "e", "f"].map { "QUERYPARAM=\"\($0)\"" }
        let all = variables(list)
        #expect(all.undefinedImport == "a" && all.missingParameter == "d" && all.values.isEmpty)
        let some = variables(list, at: "https://h/m?d=1", imports: ["a": "1"])
        #expect(some.undefinedImport == "b" && some.missingParameter == "e")
        #expect(some.values == ["a": "1", "d": "1"])
    }

    @Test(
        arguments: [
            ("x&x=1&x=2", "x", "1"), ("x=", "x", ""), ("x=1=2", "x", "1=2"), ("a%20b=%2B", "a b", "+"),
            ("y=1", "x", nil), ("x", "x", nil),
        ] as [(String, String, String?)]
    )
    func firstQueryParameterWithAValueCounts(query: String, name: String, value: String?) {
        let address = ResourceAddress("https://h/m?\(query)")
        #expect(PlaylistVariables.queryParameter(name, of: address) == value)
        let listed: String? = PlaylistVariables.queryParameters(of: address)[name] ?? nil
        #expect(listed == value)
        #expect(PlaylistVariables.queryParameter(name, of: nil) == nil)
    }

    // MARK: Delta updates

    /// Returns a delta update of ten segments of four seconds; `nil` if the full playlist is used.
    private func update(
        _ skip: DeltaSkip,
        until: Int,
        head: String = "#EXT-X-TARGETDURATION:4\n"
    ) throws -> MediaPlaylist? {
        let control = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=\(until)\n"
        let segments = (0..<10).map { "#EXTINF:4,\n\($0).m4s\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-VERSION:9\n\(head)\(control)\(segments)"
        return try MediaPlaylist(parsing: Array(text.utf8)).deltaUpdate(skip)
    }

    @Test(
        arguments: [
            ("a b", true), ("a\"b", false), ("\u{1F}", false), (" ", true), ("\u{E9}", true), ("a\nb", false),
        ]
    )
    func removedDateRangesHaveWritableIdentifiers(id: String, isWritten: Bool) throws {
        let update = try update(.segmentsAndDateRanges(removed: ["r", id]), until: 24)
        #expect((update != nil) == isWritten)
        if isWritten { #expect(update?.recentlyRemovedDateRanges?.first == "r" && update?.version == 10) }
    }

    @Test(arguments: [(0, 0), (8, 8), (36, 1), (37, 0)] as [(Int, Int64)])
    func boundaryAppliesWithoutTargetDuration(until: Int, count: Int64) throws {
        let update = try update(.segments, until: until, head: "")
        #expect((update?.skippedSegmentCount ?? 0) == count)
    }
}
