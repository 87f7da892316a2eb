import Foundation
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests the keys of packages and of their copies.
@Suite struct ExportDetailTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }
    private var folder: URL { temporary.directory.appendingPathComponent("exported") }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(path).path)[.posixPermissions]
            as? Int
    }

    /// Adds an asset with a key of 32 bytes, and one of 16 bytes.
    private func encryptedAsset() throws -> String {
        let id = try temporary.enter()
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-SESSION-KEY:METHOD=AES-256-GCM,URI="long""#,
            #"#EXT-X-SESSION-KEY:METHOD=AES-128,URI="short""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=8",
            "v.m3u8"
        )
        let media = try TemporaryLibrary.media(
            #"#EXT-X-KEY:METHOD=AES-256-GCM,URI="long""#,
            "#EXTINF:4,",
            "0.ts",
            #"#EXT-X-KEY:METHOD=AES-128,URI="short",IV=0x01"#,
            "#EXTINF:4,",
            "1.ts"
        )
        try temporary.plan(id, source, TemporaryLibrary.rendition(.variant, 0, media))
        return id
    }

    @Test func keysOfBothSizesStayPrivate() throws {
        let id = try encryptedAsset()
        try temporary.complete(id)
        let keys = try library.resources(id).filter { $0.kind.keySize != nil }
        #expect(keys.map(\.kind) == [.longKey, .key])
        let multivariant = try temporary.text("multivariant.m3u8", of: id)
        for key in keys { #expect(multivariant.contains("URI=\"\(key.path)\""), "\(multivariant)") }
        #expect(try library.export(id, to: folder).lastPathComponent == "multivariant.m3u8")
        for key in keys { #expect(try mode(key.path) == 0o600) }
        let segment = try #require(try library.resources(id).first { $0.kind == .segment })
        #expect(try mode(segment.path) == mode("multivariant.m3u8"))
    }

    @Test(
        arguments: [(32, .longKey, true), (31, .longKey, false), (16, .key, true), (15, .key, false)]
            as [(Int, StoredResource.Kind, Bool)]
    )
    func keyIsReadIfItHasItsSize(count: Int, kind: StoredResource.Kind, isRead: Bool) throws {
        let id = try encryptedAsset()
        let content = String(repeating: "k", count: count)
        try temporary.store(library.missingResources(id).filter { $0.kind == kind }, of: id, content: content)
        let address = ResourceAddress(TemporaryLibrary.origin + (kind == .longKey ? "long" : "short"))
        #expect(library.storedKey(at: address, kind, of: id) == (isRead ? Array(content.utf8) : nil))
    }

    /// A file of a media playlist that is not played must not be missing in the copy of a complete asset.
    @Test func assetWithADamagedFileIsNotExported() throws {
        let id = try temporary.enter()
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=8",
            "a.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=9",
            "b.m3u8"
        )
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(.variant, 0, try TemporaryLibrary.media("#EXTINF:4,", "a.ts")),
            TemporaryLibrary.rendition(.variant, 1, try TemporaryLibrary.media("#EXTINF:4,", "b.ts"))
        )
        try temporary.complete(id)
        try FileManager.default.removeItem(at: temporary.url("variant-1/000000.ts", of: id))
        let error = storageError { try library.export(id, to: folder) }
        #expect(error?.message == "variant-1/000000.ts is missing or damaged; repair the asset first")
        #expect(library.isPlayableOffline(id) == false && !PathCheck.exists(folder))
    }
}
