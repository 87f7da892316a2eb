extension MediaTrack {
    /// Returns the tracks of a file, with what its index and its media declare of them.
    ///
    /// Tracks of one media type are matched by their identifiers. If the media has other identifiers than the index, they
    /// are matched in their order.
    ///
    /// - Parameters:
    ///   - listed: The tracks in the index of the file.
    ///   - measured: The tracks in the media of the file.
    /// - Returns: The tracks of the index, followed by those that only the media has.
    package static func combining(listed: [MediaTrack], measured: [MediaTrack]) -> [MediaTrack] {
        var rest = measured
        var combined = listed
        for type in Set(listed.map(\.mediaType)) {
            let indices = listed.indices.filter { listed[$0].mediaType == type }
            let ids = Set(indices.map { listed[$0].id })
            let hasSameIdentifiers = measured.allSatisfy { $0.mediaType != type || ids.contains($0.id) }
            for index in indices {
                let match = rest.firstIndex { track in
                    track.mediaType == type && (!hasSameIdentifiers || track.id == listed[index].id)
                }
                if let match { combined[index] = listed[index].completed(with: rest.remove(at: match)) }
            }
        }
        return combined + rest
    }

    /// Returns this track of an index with the properties that the media has.
    private func completed(with measured: MediaTrack) -> MediaTrack {
        let isSameCodec = codec?.lowercased() == measured.codec?.lowercased()
        // The name in the index tells the format of subtitles, whose samples have other names in FFmpeg.
        let isListedFormat = mediaType == .subtitles && codec != nil
        let codecs = (isSameCodec || isListedFormat ? [codec] : [measured.codec, codec]).compactMap(\.self)
        return MediaTrack(
            id: id,
            mediaType: mediaType,
            // A codec with its profile is preferred to its name.
            codec: codecs.first { $0.contains(".") } ?? codecs.first,
            name: name ?? measured.name,
            language: language ?? measured.language,
            width: measured.width ?? width,
            height: measured.height ?? height,
            orientation: measured.orientation == .upright ? orientation : measured.orientation,
            channelCount: measured.channelCount ?? channelCount,
            sampleRate: measured.sampleRate ?? sampleRate,
            encryptionScheme: measured.encryptionScheme ?? encryptionScheme
        )
    }
}
