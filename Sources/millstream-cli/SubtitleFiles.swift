import HLSPlaylist
import MediaTransport
import MillstreamServer
import PlaylistEditing
import PresentationLoading
import ResourceAddressing

/// The parts of WebVTT files to which edited playlists refer, as files beside the playlists.
struct SubtitleFiles {
    let loader: ResourceLoader

    /// Returns the files with those of the parts, to which the playlists refer instead.
    func adding(to files: [EditedFile]) async throws -> [EditedFile] {
        var result: [EditedFile] = []
        var parts: [EditedFile] = []
        var loaded: [String: [UInt8]] = [:]
        for file in files {
            let playlist = try Playlist.parse(file.bytes)
            var names: [String: String] = [:]
            for reference in playlist.addresses where names[reference.uri] == nil {
                let address = ResourceAddress(reference.uri)
                guard reference.role == .segment, let clip = SubtitleClip(of: address) else { continue }
                let source = String(reference.uri.prefix { $0 != "#" })
                let bytes: [UInt8]
                if let known = loaded[source] {
                    bytes = known
                } else {
                    bytes = try await clip.loadSubtitles(at: address, loader)
                    loaded[source] = bytes
                }
                let name = "subtitles-\(parts.count).vtt"
                parts.append(EditedFile(name: name, bytes: clip.clipped(bytes)))
                // Playlists can be in folders of their own.
                let depth = file.name.split(separator: "/").count - 1
                names[reference.uri] = String(repeating: "../", count: depth) + name
            }
            let edited = names.isEmpty ? file.bytes : try playlist.rewritingAddresses { names[$0.uri] }.bytes
            result.append(EditedFile(name: file.name, bytes: edited))
        }
        return parts + result
    }
}
