import Foundation
import MediaTiming
package import MediaTransport
import ResourceAddressing

/// The note beside an unfinished file with which its transfer can be continued, also by a later process.
///
/// The bytes of an unfinished file are not synchronized while they are received, so the note is valid only until the
/// machine restarts, unless they were synchronized when the transfer was stopped.
package struct UnfinishedFile: Sendable, Codable, Hashable {
    /// The validator with which the server recognizes the resource (RFC 9110 §8.8).
    var validator: String
    /// The length of the entire resource in bytes; `nil` if it is unknown, or if an earlier version wrote the note.
    var totalLength: Int64?
    /// The path of the URL; its query may be a signature that changes.
    var path: String
    /// The byte range of the resource; `nil` for the entire resource.
    var rangeStart: Int64?
    var rangeLength: Int64?
    /// The identifier of the run of the system in which the bytes were written; `nil` if they are on the disk.
    var boot: String?

    /// The number of received bytes that the note describes, and their checksum.
    ///
    /// Later bytes of the file are received again, and so are these if they have another checksum.
    var count: Int64
    var checksum: Int64

    /// The extension of the note.
    static let fileExtension = ".resume"
    /// The maximum size of a note; a longer one was not written by this library.
    package static let maximumSize = 16 << 10

    init(_ resource: StoredResource, _ version: ResourceVersion, count: Int64, checksum: Int64, boot: String?) {
        self.count = count
        self.checksum = checksum
        validator = version.validator
        totalLength = version.totalLength
        path = resource.address.path
        rangeStart = resource.byteRange?.start
        rangeLength = resource.byteRange?.length
        self.boot = boot
    }

    /// Creates the note that is stored at a path; `nil` if there is none, or if its writing was interrupted.
    init?(contentsOf path: String) {
        guard let size = FileInspection.size(path), size <= Self.maximumSize,
            let data = try? Data(contentsOf: URL(fileURLWithPath: path))
        else { return nil }
        self.init(parsing: [UInt8](data))
    }

    /// Creates the note that ``bytes`` are; `nil` for any other bytes.
    package init?(parsing bytes: [UInt8]) {
        guard bytes.count <= Self.maximumSize,
            let note = try? JSONDecoder().decode(UnfinishedFile.self, from: Data(bytes))
        else { return nil }
        self = note
    }

    /// The note as it is written.
    package var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

    /// Returns a Boolean value that indicates whether the note belongs to a file, and its bytes are intact.
    func isValid(for resource: StoredResource, boot: String?) -> Bool {
        guard path == resource.address.path, rangeStart == resource.byteRange?.start,
            rangeLength == resource.byteRange?.length
        else { return false }
        return self.boot == nil || self.boot == boot
    }
}

/// The version of a resource at the origin, by which a later transfer detects that it has changed.
package struct ResourceVersion: Sendable, Hashable {
    /// The validator of the resource (RFC 9110 §8.8).
    package let validator: String
    /// The length of the entire resource in bytes; `nil` if it is unknown.
    package let totalLength: Int64?

    /// Creates the version to which the bytes before a resumption belong.
    init(_ resumption: TransportRequest.Resumption) {
        validator = resumption.validator
        totalLength = resumption.totalLength
    }

    /// Creates the version to which a response belongs; `nil` if the response has no validator.
    package init?(_ response: TransportResponse, to request: TransportRequest) {
        guard let validator = response.resumptionValidator else { return nil }
        self.validator = validator
        totalLength = response.totalLength(of: request)
    }
}

extension AssetLibrary {
    /// Returns the numbers of bytes that were received of the unfinished files of an asset, by the paths of the files.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - folders: The directories of the media playlists whose files are counted; `nil` for all.
    /// - Returns: The numbers.
    package func unfinishedFiles(of asset: StoredAsset, in folders: Set<String>? = nil) -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for folder in Set(asset.renditions.map(\.folder)) where folders?.contains(folder) ?? true {
            let names = try? FileManager.default.contentsOfDirectory(atPath: "\(packagePath(asset.id))/\(folder)")
            for name in names ?? [] where name.hasSuffix(UnfinishedFile.fileExtension) {
                guard let note = UnfinishedFile(contentsOf: "\(packagePath(asset.id))/\(folder)/\(name)") else {
                    continue
                }
                counts["\(folder)/\(name.dropLast(UnfinishedFile.fileExtension.count))"] = max(0, note.count)
            }
        }
        return counts
    }
}
