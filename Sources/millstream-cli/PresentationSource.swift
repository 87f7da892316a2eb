import DASHManifest
import PresentationLoading
import ResourceAddressing

/// The reading of DASH manifests for commands that report their contents.
enum PresentationSource {
    /// Returns a manifest, or `nil` if the bytes are something else.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that were loaded.
    ///   - address: The base URL of references.
    ///   - name: The name of the source for messages.
    /// - Returns: The manifest, or `nil` if the bytes do not look like a manifest.
    /// - Throws: ``Failure`` if the bytes look like a manifest but cannot be read.
    static func presentation(
        _ bytes: [UInt8],
        address: ResourceAddress?,
        name: String
    ) throws -> MediaPresentation? {
        guard ManifestRecognition(bytes, isComplete: true) == .manifest else { return nil }
        return try manifest(bytes, address: address, name: name)
    }

    /// Returns a manifest.
    ///
    /// - Throws: ``Failure`` if the bytes are not a manifest.
    static func manifest(_ bytes: [UInt8], address: ResourceAddress?, name: String) throws -> MediaPresentation {
        do throws(ManifestParsingError) {
            return try MediaPresentation(parsing: bytes.span, address: address)
        } catch {
            if error == .canceled { throw CancellationError() }
            throw Failure(.badInput, "invalid-manifest", "\(PlaylistSource.name(name)): \(error)")
        }
    }
}
