import AssetStorage
import Foundation
import MediaTransport
import NIOCore
import ResourceAddressing

/// A folder of files to import; files outside of the folder are refused.
///
/// Playlists may be untrusted, and imported files may be served to other users. A playlist must therefore not give
/// access to other files of the user. The folder is opened once, and each file is opened relative to the folder without
/// following links. A link that replaces a file after its path was checked is refused.
final class ImportedFolder: Sendable {
    /// The path of the folder without links.
    let path: String
    /// The folder; `nil` if it cannot be opened.
    private let folder: ContainedFile?

    /// Creates an instance that opens a folder.
    init(_ folder: URL) {
        path = Self.resolved(folder)
        self.folder = ContainedFile([], in: path)
    }

    /// Returns the components of the path of a file relative to the folder, with all links resolved; `nil` if the file
    /// is not below the folder.
    ///
    /// - Parameter path: The absolute path of the file.
    /// - Returns: The components.
    func components(of path: String) -> [String]? {
        let prefix = Array((self.path == "/" ? self.path : self.path + "/").utf8)
        let file = Array(Self.resolved(URL(fileURLWithPath: path)).utf8)
        guard file.starts(with: prefix) else { return nil }
        return String(decoding: file.dropFirst(prefix.count), as: UTF8.self).split(separator: "/").map { String($0) }
    }

    /// Opens a file.
    ///
    /// - Parameter components: The components of its path, none of which may be a link.
    /// - Returns: The file; `nil` if there is none, if it is not a regular file, or if a component is a link.
    func file(_ components: [String]) -> ContainedFile? {
        guard let folder, let file = ContainedFile(components, below: folder), file.kind == .file else { return nil }
        return file
    }

    private static func resolved(_ file: URL) -> String { file.standardizedFileURL.resolvingSymlinksInPath().path }
}

/// A transport that reads only the files in a folder.
struct FolderTransport: Transport {
    private let folder: ImportedFolder
    private let files = FileTransport()

    /// Creates a transport for the files in a folder.
    init(_ folder: ImportedFolder) { self.folder = folder }

    /// Sends a request; see `Transport.send(_:)`.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let address = request.address
        guard let path = address.filePath else {
            throw TransportError(
                .addressRefused,
                "\(address) is not a local file: download the stream instead",
                address: address
            )
        }
        return try await files.send(request) { [folder] in try Self.open(path, in: folder, address) }
    }

    private static func open(
        _ path: String,
        in folder: ImportedFolder,
        _ address: ResourceAddress
    ) throws -> FileTransport.OpenedFile {
        guard let components = folder.components(of: path) else {
            throw TransportError(
                .addressRefused,
                "the file \(path) is not in the folder of the playlist, \(folder.path), or below it",
                address: address
            )
        }
        guard let file = folder.file(components) else {
            throw FileTransport.failure(at: path, address) ?? FileTransport.unreadable(path, address)
        }
        return FileTransport.OpenedFile(size: Int64(clamping: file.size)) { offset, count in
            do {
                return ByteBuffer(bytes: try file.bytes(at: Int(clamping: offset), count: count))
            } catch {
                throw FileTransport.unreadable(path, address)
            }
        }
    }
}
