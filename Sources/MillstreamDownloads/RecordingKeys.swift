import AssetStorage
import Foundation
import HLSPlaylist
import ResourceAddressing
import Synchronization

/// The check that the keys of a recording decrypt its first segments, so that a recording that can never be played ends at once.
///
/// A key can be stored after the segments that need it: whichever is stored last is the occasion of the check. Only a few segments
/// are checked for each key, so that one that the server has damaged later does not end a recording.
final class RecordingKeys: Sendable {
    private struct State {
        /// The last keys, in the order of their first use, and the number of segments that were chosen to check them.
        var keys: [(address: ResourceAddress, count: Int)] = []
        /// The segments that are not checked yet, by the paths of their files.
        var segments: [String: EncryptedSegment] = [:]
    }

    private let state = Mutex(State())
    private let verifiedStarts = VerifiedKeys()
    private let assetID: String
    private let library: AssetLibrary

    /// The maximum number of keys whose segments are remembered: a stream can replace its key with each segment.
    private static let maximumKeyCount = 100

    /// Creates the check of an asset.
    init(of assetID: String, in library: AssetLibrary) {
        self.assetID = assetID
        self.library = library
    }

    /// Adds a segment that is going to be fetched, if it is one of the first of its key.
    ///
    /// - Parameters:
    ///   - file: The file of the segment.
    ///   - segment: The segment in the playlist at the origin.
    func add(_ file: RecordingWriter.File, _ segment: MediaSegment) {
        guard let encrypted = EncryptedSegment(segment) else { return }
        state.withLock { state in
            if let index = state.keys.firstIndex(where: { $0.address == encrypted.key }) {
                guard state.keys[index].count < encrypted.checksPerKey else { return }
                state.keys[index].count += 1
            } else {
                state.keys.append((encrypted.key, 1))
                if state.keys.count > Self.maximumKeyCount {
                    let former = state.keys.removeFirst().address
                    state.segments = state.segments.filter { $0.value.key != former }
                    verifiedStarts.endCheck(former, isVerified: false)
                }
            }
            state.segments[file.resource.path] = encrypted
        }
    }

    /// Removes a segment that is not going to be stored.
    func remove(_ file: RecordingWriter.File) { state.withLock { $0.segments[file.resource.path] = nil } }

    /// Checks the segments whose key or whose own file has just been stored.
    ///
    /// - Parameter file: The stored file.
    /// - Throws: ``DownloadError`` if a key does not match.
    func check(after file: RecordingWriter.File) throws {
        let resource = file.resource
        let due = state.withLock { state in
            state.segments.filter { path, segment in
                file.isSegment ? path == resource.path : segment.key == resource.address
            }
        }
        for (path, segment) in due {
            guard let stored = library.file(path, of: assetID),
                let octets = library.storedKey(at: segment.key, segment.keyKind, of: assetID)
            else { continue }
            guard segment.matches(octets, fileAt: stored.path) ?? true else {
                throw segment.mismatch(removingKeyOf: assetID, in: library)
            }
            let isMedia = verifiedStarts.isMedia(
                segment,
                octets,
                { FileInspection.firstBytes($0, of: stored.path) },
                initialization: { segment.storedInitialization(of: assetID, in: library) }
            )
            guard isMedia else { throw segment.mismatch(removingKeyOf: assetID, in: library, isUnknownMedia: true) }
            state.withLock { $0.segments[path] = nil }
        }
    }
}
