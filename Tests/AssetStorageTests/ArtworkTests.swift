import Foundation
import GRDB
import MediaTiming
import ReportFormat
import Testing

@testable import AssetStorage

/// Tests the images that represent assets.
@Suite struct ArtworkTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let jpegSignature: [UInt8] = [0xFF, 0xD8, 0xFF]
    /// A PNG image of 2×3 pixels.
    private static let png: [UInt8] = image(pngStart, "IHDR", [0, 0, 0, 2, 0, 0, 0, 3])

    private func artwork(_ bytes: [UInt8] = ArtworkTests.png) throws -> AssetArtwork { try AssetArtwork(Data(bytes)) }

    private func completeAsset() throws -> String {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        try temporary.complete(id)
        return id
    }

    // MARK: Formats

    @Test(
        arguments: [
            (Self.png + [1], "image/png", "cover.png"), (Self.sizedJPEG, "image/jpeg", "cover.jpg"),
            (Array("GIF87a……".utf8), "image/gif", "cover.gif"), (Array("GIF89a……".utf8), "image/gif", "cover.gif"),
            (Self.webP("VP8X", [0, 0, 0, 0, 1, 0, 0, 2, 0, 0]), "image/webp", "cover.webp"),
        ] as [([UInt8], String, String)]
    )
    func formatIsThatOfTheFirstBytes(bytes: [UInt8], contentType: String, fileName: String) throws {
        let artwork = try artwork(bytes)
        #expect(artwork.format.contentType == contentType && artwork.fileName == fileName)
        #expect(artwork.data == Data(bytes))
    }

    @Test(
        arguments: [
            [], Array(Self.pngSignature.dropLast()), Array(Self.jpegSignature.dropLast()), Array("GIF88a".utf8),
            Array("RIFF0000WAVEfmt ".utf8),
            Array("RIFF0000WEB".utf8), Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), Array("<html>".utf8),
        ] as [[UInt8]]
    )
    func otherBytesAreRefused(bytes: [UInt8]) {
        let error = storageError { _ = try artwork(bytes) }
        #expect(error?.code == "unsupported-artwork")
        #expect(error?.message == "the artwork is not a PNG, JPEG, GIF or WebP image")
    }

    @Test(arguments: [Self.pngSignature, Self.jpegSignature, Array(Self.png.dropLast()), Array("GIF89a".utf8)])
    func imageWithoutDimensionsIsRefused(bytes: [UInt8]) {
        let error = storageError { _ = try artwork(bytes) }
        #expect(error?.code == "unsupported-artwork")
        #expect(error?.message == "the artwork declares no width and height, or is cut off")
    }

    @Test func imageAboveTheLimitIsRefused() throws {
        let limit = Int(clamping: AssetArtwork.maximumSize.bytes)
        let largest = Self.png + [UInt8](repeating: 0, count: limit - Self.png.count)
        #expect(try artwork(largest).data.count == limit)
        let error = storageError { _ = try artwork(largest + [0]) }
        #expect(error?.code == "artwork-too-large")
        #expect(error?.message == "the artwork is larger than 8 MiB")
    }

    @Test func errorOfAFileNamesTheFile() throws {
        let file = temporary.directory.appendingPathComponent("image")
        var error = storageError { _ = try AssetArtwork(contentsOf: file) }
        #expect(error?.code == "disk-failed")
        #expect(error?.message.hasPrefix("\(file.path) cannot be read (") == true)
        try Data("text".utf8).write(to: file)
        error = storageError { _ = try AssetArtwork(contentsOf: file) }
        #expect(error?.code == "unsupported-artwork")
        #expect(error?.message == "\(file.path) is not a PNG, JPEG, GIF or WebP image")
        // A file without an end is not read further than the limit.
        error = storageError { _ = try AssetArtwork(contentsOf: URL(fileURLWithPath: "/dev/zero")) }
        #expect(error?.code == "artwork-too-large")
        try Data(Self.jpegSignature).write(to: file)
        error = storageError { _ = try AssetArtwork(contentsOf: file) }
        #expect(error?.code == "unsupported-artwork")
        #expect(error?.message == "\(file.path) declares no width and height, or is cut off")
        try Data(Self.sizedJPEG).write(to: file)
        #expect(try AssetArtwork(contentsOf: file) == artwork(Self.sizedJPEG))
    }

    // MARK: Dimensions

    /// A JPEG image of 2×3 pixels with a comment, a fill byte and a Huffman table before the frame header.
    private static let sizedJPEG: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xFE, 0, 3, 9, 0xFF, 0xFF, 0xC4, 0, 2, 0xFF, 0xC2, 0, 11, 8, 0, 3, 0, 2]

    private static func image(_ start: [UInt8], _ chunk: String, _ content: [UInt8]) -> [UInt8] {
        start + Array(chunk.utf8) + content
    }

    private static func webP(_ chunk: String, _ content: [UInt8]) -> [UInt8] {
        image([], "RIFF0000WEBP\(chunk)0000", content)
    }

    /// The first bytes of a PNG image with the length of its first chunk.
    private static let pngStart: [UInt8] = pngSignature + [0, 0, 0, 13]

    @Test(
        arguments: [
            Self.image(Self.pngStart, "IHDR", [0, 0, 0, 2, 0, 0, 0, 3]), Self.sizedJPEG,
            Self.image([], "GIF89a", [2, 0, 3, 0]),
            Self.webP("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 2, 0x40, 3, 0]),
            Self.webP("VP8L", [0x2F, 0x01, 0x80, 0, 0]), Self.webP("VP8X", [0, 0, 0, 0, 1, 0, 0, 2, 0, 0]),
        ] as [[UInt8]]
    )
    func dimensionsAreThoseOfTheHeader(bytes: [UInt8]) throws {
        let format = try #require(AssetArtwork.Format(of: Data(bytes)))
        let dimensions = ImageDimensions(of: Data(bytes), format: format)
        #expect(dimensions?.width == 2 && dimensions?.height == 3)
        #expect(ImageDimensions(of: Data(bytes.dropLast()), format: format) == nil)
    }

    @Test(
        arguments: [
            Self.image(Self.pngStart, "IHDR", [0, 0, 0, 0, 0, 0, 0, 3]),
            Self.image(Self.pngStart, "IDAT", [0, 0, 0, 2, 0, 0, 0, 3]), Self.image([], "GIF89a", [2, 0, 0, 0]),
            Self.webP("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2B, 2, 0, 3, 0]), Self.webP("VP8L", [0x2E, 0x01, 0x80, 0, 0]),
            Self.webP("ANIM", [0, 0, 0, 0, 1, 0, 0, 2, 0, 0]),
            [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 2],
            [0xFF, 0xD8, 0xFF, 0xFE, 0, 1, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 2],
            [0xFF, 0xD8, 0xFF, 0xFE, 0, 2, 0, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 2],
        ] as [[UInt8]]
    )
    func imageWithoutDimensionsHasNone(bytes: [UInt8]) throws {
        let format = try #require(AssetArtwork.Format(of: Data(bytes)))
        #expect(ImageDimensions(of: Data(bytes), format: format) == nil)
    }

    // MARK: Assets

    @Test func artworkIsStoredReplacedAndRemoved() throws {
        let id = try temporary.enter()
        #expect(try library.artwork(of: id) == nil && library.asset(id).artworkFormat == nil)
        try library.setArtwork(artwork(), of: id)
        #expect(try library.artwork(of: id) == artwork())
        try library.setArtwork(artwork(Self.sizedJPEG), of: id)
        for reader in [library, try AssetLibrary(reading: temporary.directory)] {
            #expect(try reader.artwork(of: id) == artwork(Self.sizedJPEG))
            #expect(try reader.asset(id).artworkFormat == .jpeg)
            #expect(try reader.assets().map(\.artworkFormat) == [.jpeg])
            #expect(try reader.artworkFormats() == [id: .jpeg])
        }
        try library.setArtwork(nil, of: id)
        #expect(try library.artwork(of: id) == nil && library.artworkFormats().isEmpty)
    }

    @Test func artworkThatIsAddedReplacesNone() throws {
        let id = try temporary.enter()
        try library.addArtwork(artwork(), of: id)
        #expect(try library.artwork(of: id) == artwork())
        try library.addArtwork(artwork(Self.sizedJPEG), of: id)
        #expect(try library.artwork(of: id) == artwork())
    }

    @Test func reportOfAnAssetHasTheContentType() throws {
        let id = try temporary.enter()
        #expect(try library.asset(id).report.json.contains("artwork") == false)
        try library.setArtwork(artwork(), of: id)
        #expect(try library.asset(id).report.json.contains(#""mediaFile":false,"artwork":"image/png","path""#))
    }

    @Test func artworkOfAnUnknownAssetIsAnError() throws {
        let image = try artwork()
        #expect(storageError { _ = try library.artwork(of: "none") }?.code == "not-found")
        #expect(storageError { try library.setArtwork(image, of: "none") }?.code == "not-found")
    }

    /// The package, its size and its summary do not depend on the image.
    @Test func artworkIsNoFileOfThePackage() throws {
        let id = try completeAsset()
        let (names, summary) = (try temporary.names(of: id), try library.summary(id))
        try library.setArtwork(artwork(), of: id)
        #expect(try temporary.names(of: id) == names && library.summary(id) == summary)
        #expect(try !library.lacksSummaries)
        let result = try library.verify(id)
        #expect(result == VerificationResult(damaged: [], withoutChecksum: 0))
    }

    @Test func deletionOfAnAssetDeletesItsArtwork() throws {
        let (deleted, other) = (try completeAsset(), try temporary.enter("B", from: "other.m3u8"))
        for id in [deleted, other] { try library.setArtwork(artwork(), of: id) }
        try library.delete(deleted)
        let ids = try library.catalog.read { try String.fetchAll($0, sql: "SELECT assetID FROM artwork") }
        #expect(ids == [other])
    }

    /// An asset whose source is downloaded again keeps what it has.
    @Test func artworkStaysWhenAnAssetIsPlannedAgain() throws {
        let id = try completeAsset()
        try library.setArtwork(artwork(), of: id)
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts")
        #expect(try temporary.planned(playlist) == id)
        #expect(try library.artwork(of: id) == artwork())
    }

    @Test(arguments: [Self.png, Self.sizedJPEG])
    func exportedFolderHasTheArtwork(bytes: [UInt8]) throws {
        let id = try completeAsset()
        let image = try artwork(bytes)
        try library.setArtwork(image, of: id)
        let folder = temporary.directory.appendingPathComponent("film")
        try library.export(id, to: folder)
        #expect(try Data(contentsOf: folder.appendingPathComponent(image.fileName)) == image.data)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == [image.fileName, "media", "multivariant.m3u8"])
    }

    // MARK: Earlier versions

    @Test func imageOfAnEarlierVersionWithoutDimensionsIsRead() throws {
        let id = try temporary.enter()
        try library.write { database in
            try database.execute(
                sql: "INSERT INTO artwork (assetID, format, image) VALUES (?, 'png', ?)",
                arguments: [id, Data(Self.pngSignature)]
            )
        }
        #expect(try library.artwork(of: id)?.data == Data(Self.pngSignature))
    }

    /// Downloads of earlier versions have their images, of any format, only until they end.
    @Test func imagesOfDownloadsOfAnEarlierVersionBelongToTheirAssets() throws {
        let directory = temporary.directory.appendingPathComponent("old")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let queue = try DatabaseQueue(path: directory.path + "/catalogue.sqlite")
        try Schema.migrator.migrate(queue, upTo: "summaries-with-bit-rates")
        try queue.write { database in
            let images: [(String, Data?)] = [
                ("a", Data(Self.png)), ("b", Data([1, 2])), ("c", nil), ("d", Data(Self.pngSignature)),
            ]
            for (id, image) in images {
                try database.execute(
                    sql: "INSERT INTO asset VALUES (?, 'A', ?, 1, 'partial', '', NULL, NULL)",
                    arguments: [id, "https://h/\(id)"]
                )
                try database.execute(
                    sql: """
                        INSERT INTO download
                        (id, session, assetID, source, details, options, artwork, state, priority, createdAt)
                        VALUES (?, 's', ?, 'https://h/', '', x'', ?, 'failed', 0, 1)
                        """,
                    arguments: [id, id, image]
                )
            }
        }
        try queue.close()
        let reading = try AssetLibrary(reading: directory)
        #expect(try reading.artwork(of: "a") == nil && reading.artworkFormats().isEmpty)
        #expect(try reading.assets().allSatisfy { $0.artworkFormat == nil })
        let opened = try AssetLibrary(directory: directory)
        #expect(try opened.artwork(of: "a") == artwork())
        // Its header declares no width and height.
        #expect(try opened.artwork(of: "d")?.data == Data(Self.pngSignature))
        #expect(try opened.artworkFormats() == ["a": .png, "d": .png])
        try opened.close()
    }
}
