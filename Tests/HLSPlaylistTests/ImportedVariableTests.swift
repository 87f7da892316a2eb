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

    /// It can be inspected, validated and edited.
    @Test func playlistIsParsedNevertheless() throws {
        #expect(try Self.media("IMPORT=\"a\"").segments.map(\.uri) == ["{$a}.ts"])
    }
}
