import ResourceAddressing
import Testing

@testable import HLSPlaylist

/// Tests the variables that a media playlist imports (RFC 8216bis §4.4.2.3).
@Suite struct ImportedVariableTests {
    private static func media(_ definitions: String..., variables: [String: String] = [:]) throws -> MediaPlaylist {
        let lines = ["#EXTM3U"] + definitions.map { "#EXT-X-DEFINE:\($0)" } + ["#EXTINF:1,", "{$a}.ts", ""]
        return try MediaPlaylist(
            parsing: Array(lines.joined(separator: "\n").utf8),
            context: PlaylistContext(importableVariables: variables)
        )
    }

    @Test func importOfADefinedVariableIsAccepted() throws {
        try Self.media("IMPORT=\"a\"", variables: ["a": "1"]).checkImports()
        try Self.media("IMPORT=\"a\"", variables: ["a": ""]).checkImports()
        try Self.media("NAME=\"a\",VALUE=\"1\"").checkImports()
        try Self.media("QUERYPARAM=\"a\"").checkImports()
    }

    @Test func firstImportWithoutADefinitionIsNamed() throws {
        #expect(throws: PlaylistParsingError.undeclaredImport("a")) {
            try Self.media("IMPORT=\"a\"").checkImports()
        }
        #expect(throws: PlaylistParsingError.undeclaredImport("b")) {
            try Self.media("IMPORT=\"a\"", "IMPORT=\"b\"", "IMPORT=\"c\"", variables: ["a": "1"]).checkImports()
        }
    }

    @Test func importOfAKnownVariableCanBeReplacedByItsDefinition() throws {
        let playlist = try Self.media(
            "IMPORT=\"a\"",
            "NAME=\"b\",VALUE=\"2\"",
            "IMPORT=\"unknown\"",
            "IMPORT=\"c\"",
            variables: ["a": "1", "c": "", "other": "3"]
        )
        let imports = Playlist.media(playlist).externalVariables
        #expect(
            imports.map(\.definition) == [
                "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"", "#EXT-X-DEFINE:NAME=\"c\",VALUE=\"\"",
            ]
        )
        let first = try #require(imports.first)
        #expect(String(decoding: playlist.bytes[first.text], as: UTF8.self) == "#EXT-X-DEFINE:IMPORT=\"a\"")
        #expect(String(decoding: playlist.bytes[first.line], as: UTF8.self) == "#EXT-X-DEFINE:IMPORT=\"a\"\n")
        let areImported = imports.map(\.isImported)
        #expect(!areImported.contains(false))
        #expect(Playlist.media(try Self.media("NAME=\"a\",VALUE=\"1\"")).externalVariables.isEmpty)
    }

    @Test(arguments: ["#EXTINF:1,\na.ts\n", "#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n"])
    func parameterOfTheURLCanBeReplacedByItsDefinition(entries: String) throws {
        let text = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"q\"\n#EXT-X-DEFINE:QUERYPARAM=\"none\"\n" + entries
        let context = PlaylistContext(address: ResourceAddress("https://h/a.m3u8?q=1%202"))
        let variables = try Playlist.parse(Array(text.utf8), context: context).externalVariables
        #expect(variables.map(\.definition) == ["#EXT-X-DEFINE:NAME=\"q\",VALUE=\"1 2\""])
        #expect(variables.map(\.isImported) == [false])
    }

    @Test func repeatedImportIsRemoved() throws {
        let playlist = Playlist.media(
            try Self.media("IMPORT=\"a\"", "IMPORT=\"a\"", variables: ["a": "1"])
        )
        let variables = playlist.externalVariables
        #expect(variables.map(\.isRepeated) == [false, true])
        var patch = PlaylistPatch()
        for variable in variables { variable.define(in: &patch) }
        #expect(
            String(decoding: patch.applied(to: playlist.bytes), as: UTF8.self)
                == "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n#EXTINF:1,\n{$a}.ts\n"
        )
    }

    /// Each of the values would be another one after it was written and parsed.
    @Test(arguments: ["\"", "a\nb", "{$a}"]) func valueCanBeOneThatNoDefinitionHas(value: String) throws {
        let media = try Self.media("IMPORT=\"a\"", "NAME=\"b\",VALUE=\"x{$a}\"", variables: ["a": value])
        let playlist = Playlist.media(media)
        #expect(playlist.externalVariables.isEmpty)
        let variables = try #require(playlist.unwritableVariables)
        // The definition of the other variable has the same characters.
        #expect(variables.names == ["a", "b"])
        let lines = variables.lines.map { String(decoding: playlist.bytes[$0], as: UTF8.self) }
        #expect(lines == ["#EXT-X-DEFINE:IMPORT=\"a\"\n", "#EXT-X-DEFINE:NAME=\"b\",VALUE=\"x{$a}\"\n"])
    }

    @Test(arguments: ["", "1", "a b"]) func valueThatADefinitionHasIsWritable(value: String) throws {
        let playlist = Playlist.media(try Self.media("IMPORT=\"a\"", variables: ["a": value]))
        #expect(playlist.unwritableVariables == nil && playlist.externalVariables.count == 1)
        #expect(Playlist.media(try Self.media("IMPORT=\"a\"")).unwritableVariables == nil)
    }

    @Test func referencesOfAttributesOtherThanAddressesAreFound() throws {
        let text = """
            #EXTM3U
            #EXT-X-DEFINE:NAME="b",VALUE="{$a}"
            #EXT-X-MAP:URI="{$a}.mp4"
            #EXT-X-DATERANGE:ID="{$c}",START-DATE="2026-01-01T00:00:00Z"
            #EXTINF:1,{$a}
            {$a}.ts

            """
        let playlist = try Playlist.parse(Array(text.utf8))
        let other = playlist.reference(to: ["a"], except: playlist.addresses)
        #expect(other?.variable == nil)
        let map = playlist.reference(to: ["a", "c"], except: [])
        #expect(map?.variable == "a" && map?.tag == "EXT-X-MAP")
        let dateRange = playlist.reference(to: ["a", "c"], except: playlist.addresses)
        #expect(dateRange?.variable == "c" && dateRange?.tag == "EXT-X-DATERANGE")
    }

    @Test(
        arguments: [
            ("https://h/main.m3u8?token=1", nil), ("https://h/main.m3u8?other=1", "token"),
            ("https://h/main.m3u8", "token"), ("file:///main.m3u8", "token"), ("file:///main.m3u8?token=1", nil),
            (nil, nil),
        ] as [(String?, String?)]
    )
    func parameterThatTheURLDoesNotHaveIsNamed(address: String?, missing: String?) throws {
        let text = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"token\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8?{$token}\n"
        let playlist = try MultivariantPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: address.map { ResourceAddress($0) })
        )
        guard let missing else { return try playlist.checkParameters() }
        let error = PlaylistParsingError.missingQueryParameter(missing)
        #expect(throws: error) { try playlist.checkParameters() }
        #expect(error.hint == "add ?token=VALUE to the URL; name a local file as file:///PATH?token=VALUE")
    }

    @Test func referencesToVariablesAreFound() throws {
        #expect(Playlist.media(try Self.media("IMPORT=\"a\"")).referencedVariables == ["a"])
        let long = String(repeating: "n", count: 256)
        for (uri, names) in [
            ("a{b}$.ts", []), ("a.ts\n#{$", []), ("{$a.ts", []), ("$}{$b}{$c}{$b}", ["b", "c"]), ("{${$b}}", ["b"]),
            ("{$\(long)}", [long]), ("{$\(long)n}", []),
        ] as [(String, Set<String>)] {
            let text = "#EXTM3U\n#EXTINF:1,\n\(uri)\n"
            #expect(try Playlist.parse(Array(text.utf8)).referencedVariables == names)
        }
    }

    /// A multivariant playlist that is not known can define the variable, unless the playlist was opened as players
    /// open it.
    @Test func messageIsShortHoweverManyCombiningMarksTheNameHas() {
        let error = PlaylistParsingError.undeclaredImport("e" + String(repeating: "\u{301}", count: 10_000))
        #expect(error.description.utf8.count < 500)
    }

    @Test func undeclaredImportIsReportedIfNoOtherPlaylistCanDefineIt() throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:1\n#EXT-X-DEFINE:IMPORT=\"a\"\n"
            + "#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"
        var context = PlaylistContext()
        #expect(try Playlist.parse(Array(text.utf8), context: context).diagnostics.isEmpty)
        context.declaresAllImports = true
        #expect(
            try Playlist.parse(Array(text.utf8), context: context).diagnostics.map(\.code) == ["import-undeclared"]
        )
        context.importableVariables = ["a": "1"]
        #expect(try Playlist.parse(Array(text.utf8), context: context).diagnostics.isEmpty)
    }

    /// It can be inspected, validated and edited.
    @Test func playlistIsParsedNevertheless() throws {
        #expect(try Self.media("IMPORT=\"a\"").segments.map(\.uri) == ["{$a}.ts"])
    }
}
