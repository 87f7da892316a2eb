public import Foundation
public import MediaTiming
import MediaTransport

/// An image that represents an asset, such as a poster or a cover.
public struct AssetArtwork: Sendable, Hashable {
    /// A format of images, recognized by their first bytes.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// Portable Network Graphics (RFC 2083).
        case png
        /// JPEG (ISO/IEC 10918-1).
        case jpeg
        /// Graphics Interchange Format.
        case gif
        /// WebP (RFC 9649).
        case webP = "webp"

        /// The media type, such as `image/png`.
        public var contentType: String { "image/\(rawValue)" }

        /// The extension of the names of files with such images, such as `jpg`.
        public var fileExtension: String {
            switch self {
            case .png, .gif, .webP: rawValue
            case .jpeg: "jpg"
            }
        }

        /// Creates the format of an image, or returns `nil` if its first bytes are those of no known format.
        ///
        /// - Parameter image: The bytes of the image, of which at most the first 12 are read.
        public init?(of image: Data) {
            let bytes = [UInt8](image.prefix(12))
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                self = .png
            } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                self = .jpeg
            } else if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) {
                self = .gif
            } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).elementsEqual("WEBP".utf8) {
                self = .webP
            } else {
                return nil
            }
        }
    }

    /// The maximum size of an image: 8 MiB, more than posters in the highest usual resolution have.
    public static let maximumSize = ByteCount(8 << 20)

    /// The bytes of the image.
    public let data: Data
    /// The format of the image.
    public let format: Format

    /// The name of the file with the image in an exported folder, such as `cover.jpg`.
    public var fileName: String { "cover.\(format.fileExtension)" }

    /// Creates artwork from the bytes of an image.
    ///
    /// - Parameter data: The bytes of a PNG, JPEG, GIF or WebP image of at most ``maximumSize``, whose header declares a width and a
    ///   height above 0.
    /// - Throws: ``StorageError`` with the code ``StorageError/Code/artworkTooLarge`` or
    ///   ``StorageError/Code/unsupportedArtwork``.
    public init(_ data: Data) throws(StorageError) {
        try self.init(data, named: "the artwork")
    }

    /// Creates artwork from a file with an image.
    ///
    /// - Parameter file: A PNG, JPEG, GIF or WebP file of at most ``maximumSize``, whose header declares a width and a height above 0.
    /// - Throws: ``StorageError`` with the code ``StorageError/Code/disk``, ``StorageError/Code/artworkTooLarge`` or
    ///   ``StorageError/Code/unsupportedArtwork``.
    public init(contentsOf file: URL) throws(StorageError) {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            // One byte beyond the limit shows that a file is too large, also if the file has no end.
            data = try handle.read(upToCount: Int(clamping: Self.maximumSize.bytes +| 1)) ?? Data()
        } catch {
            throw StorageError(
                .disk,
                "\(file.path) cannot be read (\(FileErrorText.reason(of: error)))",
                cause: error
            )
        }
        try self.init(data, named: file.path)
    }

    /// Creates artwork from the bytes in the catalog; `nil` if their format is not known.
    ///
    /// Earlier versions stored images whose headers declare no width and height.
    ///
    /// - Parameter data: The bytes of the image.
    init?(stored data: Data) {
        guard let format = Format(of: data) else { return nil }
        self.data = data
        self.format = format
    }

    private init(_ data: Data, named name: String) throws(StorageError) {
        guard Int64(clamping: data.count) <= Self.maximumSize.bytes else {
            throw StorageError(.artworkTooLarge, "\(name) is larger than \(Self.maximumSize.bytes >> 20) MiB")
        }
        guard let format = Format(of: data) else {
            throw StorageError(.unsupportedArtwork, "\(name) is not a PNG, JPEG, GIF or WebP image")
        }
        guard ImageDimensions(of: data, format: format) != nil else {
            throw StorageError(.unsupportedArtwork, "\(name) declares no width and height, or is cut off")
        }
        self.data = data
        self.format = format
    }
}
