import Foundation
import ResourceAddressing
import Testing

@testable import HLSPlaylist

/// A playlist, or a folder with a multivariant playlist and its media playlists, that violates one rule and no other of
/// its rule set; a fixture whose name begins with `valid-` violates none.
struct RuleFixture: CustomTestStringConvertible {
    /// The file or folder in `Fixtures/Rules`.
    let file: String
    /// The identifier of the rule, or a description of a valid playlist.
    let name: String
    /// The address of the playlist, for rules about its query.
    let address: ResourceAddress?

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/Rules", isDirectory: true)

    static let all: [RuleFixture] = {
        let manager = FileManager.default
        let rows = (try? String(contentsOf: folder.appendingPathComponent("addresses.tsv"), encoding: .utf8)) ?? ""
        let addresses = Dictionary(
            rows.split(separator: "\n").dropFirst().map { row in
                let columns = row.split(separator: "\t")
                return (String(columns[0]), ResourceAddress(String(columns[1])))
            },
            uniquingKeysWith: { $1 }
        )
        let files = (try? manager.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.sorted().filter { $0 != "addresses.tsv" }.map { file in
            RuleFixture(file: file, name: String(file.prefix { $0 != "." }), address: addresses[file])
        }
    }()

    var testDescription: String { name }
    var isValid: Bool { name.hasPrefix("valid-") }
    var isPresentation: Bool { !file.hasSuffix(".m3u8") }
    /// The rule sets to validate against.
    var ruleSets: Set<RuleSet> {
        if isValid { return name.hasPrefix("valid-apple-") ? [.rfc, .apple] : [.rfc] }
        return [name.hasPrefix("apple-") ? .apple : .rfc]
    }

    /// Returns the bytes of a file of the fixture.
    func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent(path)))
    }

    /// Returns the names of the files of a presentation.
    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Self.folder.appendingPathComponent(file).path).sorted()
    }

    /// Returns the diagnostics of the fixture.
    ///
    /// - Parameters:
    ///   - replaced: The file of a presentation to replace; none if `nil`.
    ///   - replacement: The bytes that replace it.
    /// - Returns: The diagnostics of all playlists.
    /// - Throws: An error if a file cannot be read or parsed.
    func diagnostics(replacing replaced: String? = nil, with replacement: [UInt8] = []) throws -> [Diagnostic] {
        guard isPresentation else {
            let playlist = try Playlist.parse(try bytes(file), context: PlaylistContext(address: address))
            return playlist.validated(against: ruleSets)
        }
        let address = ResourceAddress("https://example.com/\(file)/multivariant.m3u8")
        func content(_ name: String) throws -> [UInt8] {
            name == replaced ? replacement : try bytes("\(file)/\(name)")
        }
        let multivariant = try MultivariantPlaylist(
            parsing: try content("multivariant.m3u8"),
            context: PlaylistContext(address: address)
        )
        var playlists: [ResourceAddress: Playlist] = [:]
        let known = replaced == nil ? nil : Set(try files())
        for address in multivariant.mediaAddresses where known?.contains(address.lastPathComponent) ?? true {
            playlists[address] = try Playlist.parse(
                try content(address.lastPathComponent),
                context: PlaylistContext(address: address)
            )
        }
        return PresentationValidation(multivariant, playlists: playlists).diagnostics(of: ruleSets)
            .flatMap(\.diagnostics)
    }
}

extension MultivariantPlaylist {
    /// The addresses of all media playlists of the presentation.
    fileprivate var mediaAddresses: [ResourceAddress] {
        variants.map(\.address) + iFrameVariants.map(\.address) + renditions.compactMap(\.address)
    }
}

@Suite struct RuleTests {
    @Test(arguments: RuleFixture.all.filter { !$0.isValid })
    func fixtureViolatesOnlyItsRule(fixture: RuleFixture) throws {
        let rule = try #require(Rule(rawValue: fixture.name)?.definition)
        let found = try fixture.diagnostics()
        #expect(Set(found.map(\.code)) == [rule.id])
        #expect(found.allSatisfy { $0.severity == rule.severity && $0.section == rule.section })
    }

    @Test(arguments: RuleFixture.all.filter(\.isValid))
    func validPlaylistsViolateNoRule(fixture: RuleFixture) throws {
        #expect(try fixture.diagnostics().map(\.code) == [])
    }

    @Test func everyRuleHasAFixture() {
        let covered = Set(RuleFixture.all.map(\.name))
        #expect(Set(ValidationRule.all.map(\.id)).subtracting(covered).isEmpty)
        #expect(ValidationRule.all.map(\.id) == Rule.allCases.map(\.rawValue) && Rule.allCases.count > 300)
    }
}

@Suite struct InspectedCodecTests {
    @Test(
        arguments: [
            ("avc1.640028", 100, 40), ("avc3.42E01E", 66, 30), ("avc1.64002", nil, nil), ("avc1.+40028", nil, nil),
            ("avc1.640028.1", nil, nil), ("avc1", nil, nil), ("hvc1.640028", nil, nil),
        ] as [(String, Int?, Int?)]
    )
    func h264ProfileAndLevelAreParsed(name: String, profile: Int?, level: Int?) throws {
        let codec = try #require(InspectedCodec(name))
        #expect(codec.h264?.profile == profile && codec.h264?.level == level)
    }

    @Test(
        arguments: [
            ("hvc1.2.4.L153.B0", 2, 153), ("hev1.A1.60000000.H120", 1, 120), ("hvc1.2.4.M153", nil, nil),
            ("hvc1.D1.6.L93", nil, nil), ("hvc1.1.6", nil, nil), ("hvc1.1..L93", nil, nil),
            ("hvc1.AB1.6.L93", nil, nil),
            ("hvc1.1.6.L99999999999999999999", 1, .max),
        ] as [(String, Int?, Int?)]
    )
    func hevcProfileAndLevelAreParsed(name: String, profile: Int?, level: Int?) throws {
        let codec = try #require(InspectedCodec(name))
        #expect(codec.hevc?.profile == profile && codec.hevc?.level == level)
    }

    @Test(
        arguments: [
            ("av01.0.19M.10", 19), ("av01.0.31H.08", 31), ("av01.0.20M", nil), ("av01.0.2M.08", nil),
            ("av01.00.20M.08", nil),
        ] as [(String, Int?)]
    )
    func av1LevelIndexIsParsed(name: String, level: Int?) throws {
        #expect(try #require(InspectedCodec(name)).av1LevelIndex == level)
    }

    @Test func codecsAreClassifiedByMediaType() {
        let names = [" avc1.640028 ", "wvtt", "mp4a.40.2", "unheard-of", ".", "  "]
        #expect(names.map { InspectedCodec($0)?.mediaType } == [.video, .subtitles, .audio, .audio, .audio, nil])
    }
}

@Suite struct RuleLimitTests {
    /// Many diagnostics of one kind neither exhaust memory nor hide others; those beyond the limit are counted.
    @Test func repeatedDiagnosticDoesNotHideOthers() throws {
        let text = "#EXTM3U\n" + String(repeating: " #EXTINF:1,\na\n", count: 5_000) + "#EXT-X-TARGETDURATION:x\n"
        let found = try Playlist.parse(Array(text.utf8)).validated()
        #expect(found.count { $0.code == "leading-space" && $0.severity == .error } == 1_000)
        #expect(found.contains { $0.message.hasPrefix("4000 more") } && found.contains { $0.code == "not-an-integer" })
    }

    /// A line with 50,000 attributes is parsed within the time limit.
    @Test(.timeLimit(.minutes(10))) func manyAttributesAreParsedWithinTimeLimit() throws {
        let list = (0..<50_000).map { "X-\($0)=\($0)" }.joined(separator: ",")
        let text = "#EXTM3U\n#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2024-01-01T00:00:00.000Z\",\(list)\n#EXTINF:1,\na\n"
        let playlist = try Playlist.parse(Array(text.utf8))
        #expect(try !playlist.validated().isEmpty && playlist.canonical().bytes.count > list.utf8.count)
    }

    /// A variable is undefined in lines before its definition.
    @Test func variableIsUndefinedBeforeItsDefinition() throws {
        let text = """
            #EXTM3U
            #EXT-X-VERSION:8
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="{$c}"
            a.m3u8
            #EXT-X-DEFINE:NAME="c",VALUE="a, b"

            """
        let found = try Playlist.parse(Array(text.utf8)).validated()
        #expect(found.map(\.code) == ["undefined-variable"])
    }
}
