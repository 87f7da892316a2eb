import Foundation
import HLSPlaylist
import MediaTransport
import ResourceAddressing

/// A media file from standard input, which is stored in a temporary file, because its parts are not read in sequence.
struct InspectedStandardInput {
    /// The URL of the file.
    let address: ResourceAddress
    /// A loader that reads files.
    let loader = ResourceLoader(FileTransport(), policy: RecoveryPolicy(retries: 0))
    private let folder: URL

    /// Returns a Boolean value that indicates whether bytes are a playlist, a manifest, or other known content that is
    /// not a media file, such as a web page.
    static func isDocument(_ bytes: [UInt8]) -> Bool {
        do {
            _ = try Playlist.parse(bytes)
            return true
        } catch {
            switch error {
            case .notAPlaylist(let content): return content != .mp4 && content != .transportStream && content != nil
            case .unexpectedKind, .limitExceeded, .undeclaredImport, .missingQueryParameter: return true
            }
        }
    }

    /// Creates an instance that stores the bytes.
    ///
    /// - Throws: ``Failure`` if the file cannot be written.
    init(_ bytes: [UInt8]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("millstream-\(UUID())")
        let path = folder.appendingPathComponent("standard-input").path
        address = ResourceAddress(filePath: path)
        do {
            try PrivateFiles.createFolder(folder.path)
            try PrivateFiles.write(bytes, to: path)
        } catch {
            remove()
            throw Failure(writing: path, error)
        }
    }

    /// Deletes the file.
    func remove() { try? FileManager.default.removeItem(at: folder) }
}

extension Failure {
    /// Returns an error whose message names standard input instead of the temporary file with its bytes.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - address: The URL of the file.
    /// - Returns: The error, or a failure with its message.
    static func namingStandardInput(_ error: any Error, storedAt address: ResourceAddress) -> any Error {
        guard error is Failure || error is any MillstreamError else { return error }
        let failure = Failure(error)
        var message = failure.message.replacing(address.description, with: "standard input")
        if let path = address.filePath { message = message.replacing(path, with: "standard input") }
        return Failure(failure.status, failure.code, message, hint: failure.hint)
    }
}
