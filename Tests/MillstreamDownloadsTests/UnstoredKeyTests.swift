import AssetStorage
import HLSPlaylist
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests which keys must be received before the playlists of an asset that can be played are replaced.
@Suite struct UnstoredKeyTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "media.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Returns the lines of segments, each with the given tags before it.
    private static func segments(_ names: [String], tags: (Int) -> String) -> String {
        let lines = names.enumerated().map { "\(tags($0))#EXTINF:4,\n\($1)\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n"
    }

    private static func names(_ count: Int) -> [String] { (0..<count).map { "\($0).ts" } }

    private static func key(_ name: String = "key", method: String = "AES-128") -> String {
        "#EXT-X-KEY:METHOD=\(method),URI=\"\(name)\"\n"
    }

    /// Downloads segments, with the same tags before each of them.
    private func download(_ count: Int, tags: String = "") async throws -> String {
        var texts = [Self.source.text: Self.segments(Self.names(count)) { _ in tags }]
        for name in Self.names(count) { texts[Self.base + name] = "media" }
        texts[Self.base + "key"] = "0123456789abcdef"
        return try await AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(ScriptedTransport(texts: texts), policy: RecoveryPolicy(retries: 0))
        ).run().id
    }

    /// Returns the keys that a new version of the playlist needs.
    private func unstoredKeys(
        of id: String,
        _ names: [String],
        role: StoredRendition.Role = .variant,
        tags: (Int) -> String
    ) throws -> [UnstoredKey] {
        let playlist = try MediaPlaylist(
            parsing: Array(Self.segments(names, tags: tags).utf8),
            context: PlaylistContext(address: Self.source)
        )
        return try library.unstoredKeys(of: [PlannedRendition(only: playlist, at: Self.source, role: role)], id)
    }

    @Test(arguments: [("AES-128", 4), ("AES-256-GCM", 4), ("SAMPLE-AES", 0)])
    func keyIsCheckedWithTheFirstStoredSegments(method: String, count: Int) async throws {
        let id = try await download(6)
        let keys = try unstoredKeys(of: id, Self.names(6)) { _ in Self.key(method: method) }
        #expect(keys.map(\.address.text) == [Self.base + "key"])
        let kind: StoredResource.Kind = method == "AES-256-GCM" ? .longKey : .key
        #expect(keys.map(\.kind) == [kind])
        let paths = keys.flatMap { $0.segments.map(\.path) }
        #expect(paths.map { String($0.suffix(9)) } == (0..<count).map { "00000\($0).ts" })
    }

    @Test func keysAreInTheOrderOfThePlaylist() async throws {
        let id = try await download(4)
        let keys = try unstoredKeys(of: id, Self.names(4)) { Self.key($0 == 2 ? "b" : "a") }
        #expect(keys.map(\.address.lastPathComponent) == ["a", "b"])
        #expect(keys.map(\.segments.count) == [3, 1])
    }

    @Test func otherPlaylistsNeedNoKey() async throws {
        let id = try await download(2)
        let plain = try unstoredKeys(of: id, Self.names(2)) { _ in "" }
        #expect(plain.isEmpty)
        for role in [StoredRendition.Role.subtitles, .iFrames] {
            let keys = try unstoredKeys(of: id, Self.names(2), role: role) { _ in Self.key() }
            #expect(keys.isEmpty, "\(role)")
        }
        let audio = try unstoredKeys(of: id, Self.names(2), role: .audio) { _ in Self.key() }
        #expect(audio.count == 1)
    }

    /// A key that is stored is kept; SAMPLE-AES is not checked.
    @Test func storedKeyIsNotReceivedAgain() async throws {
        let tag = Self.key(method: "SAMPLE-AES")
        let id = try await download(2, tags: tag)
        let same = try unstoredKeys(of: id, Self.names(2)) { _ in tag }
        #expect(same.isEmpty)
        let other = try unstoredKeys(of: id, Self.names(2)) { _ in Self.key("other", method: "SAMPLE-AES") }
        #expect(other.count == 1)
    }

    @Test func assetThatCannotBePlayedNeedsNoKey() throws {
        let id = try library.addAsset(source: Self.source, title: "A", selection: "")
        let keys = try unstoredKeys(of: id, Self.names(2)) { _ in Self.key() }
        #expect(keys.isEmpty)
    }

    /// Only the first four segments of a key that are not gaps are considered.
    @Test(arguments: [(3, 1), (4, 0)]) func fewSegmentsOfAKeyAreConsidered(otherCount: Int, keyCount: Int) async throws
    {
        let id = try await download(1)
        let names = (0..<otherCount).map { "other\($0).ts" } + ["0.ts"]
        let keys = try unstoredKeys(of: id, names) { _ in Self.key() }
        #expect(keys.count == keyCount && keys.allSatisfy { $0.segments.count == 1 })
        let gaps = try unstoredKeys(of: id, names) { Self.key() + ($0 < otherCount ? "#EXT-X-GAP\n" : "") }
        #expect(gaps.map(\.segments.count) == [1])
    }

    @Test func aHundredKeysAreConsidered() async throws {
        let id = try await download(101)
        let keys = try unstoredKeys(of: id, Self.names(101)) { Self.key("key\($0)") }
        #expect(keys.count == 100 && keys.last?.address.lastPathComponent == "key99")
    }

    // MARK: Selections

    /// A download that only replaces keys has the media of another one.
    @Test func selectionWithoutKeysHasTheOtherEdits() throws {
        let keyed = try #require(
            DownloadSelection("variants=lowest&edit=key=30313233343536373839616263646566&edit=exclude=cues")
        )
        #expect(keyed.withoutKeys == DownloadSelection("variants=lowest&edit=exclude=cues"))
        #expect(keyed.withoutKeys != keyed && keyed.withoutKeys.withoutKeys == keyed.withoutKeys)
    }
}
