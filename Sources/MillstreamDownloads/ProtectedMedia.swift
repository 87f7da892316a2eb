import AssetStorage
import Foundation
import SegmentFormat

/// The recognition of media that is encrypted, although its playlist names no key.
enum ProtectedMedia {
    /// The maximum size of an initialization section that is read for it.
    static let maximumInitializationSize = 4 << 20

    /// Returns the encryption scheme of a track without clear samples in an initialization section; `nil` if there is none.
    static func scheme(ofInitialization bytes: [UInt8]) -> String? {
        guard let box = Box.first(.moov, in: bytes.span),
            let movie = try? Movie(bytes.span, at: box.range.lowerBound),
            let track = movie.tracks.first(where: { $0.hasOnlyProtectedSamples })
        else { return nil }
        return track.mediaTrack.encryptionScheme ?? "unknown"
    }

    /// Returns the encryption scheme of stored media of an asset whose playlist names no key; `nil` if there is none.
    static func scheme(of id: String, in library: AssetLibrary) throws -> String? {
        // A playlist can name thousands of sections, and to parse it takes as long as it has segments.
        var foldersWithKeys: Set<String> = []
        for resource in try library.storedInitializationSections(id) where !foldersWithKeys.contains(resource.folder) {
            guard let file = library.file(resource.path, of: id),
                let size = FileInspection.size(file.path), size <= maximumInitializationSize,
                let data = try? Data(contentsOf: file),
                let scheme = scheme(ofInitialization: [UInt8](data))
            else { continue }
            guard try library.namesKeys(for: resource) else { return scheme }
            foldersWithKeys.insert(resource.folder)
        }
        return nil
    }
}

extension Movie.Track {
    /// A Boolean value that indicates whether no sample can be clear, as those before the first key of a playlist are.
    fileprivate var hasOnlyProtectedSamples: Bool {
        !sampleEntries.isEmpty && sampleEntries.allSatisfy { $0.protection?.isProtectedByDefault ?? false }
    }
}
