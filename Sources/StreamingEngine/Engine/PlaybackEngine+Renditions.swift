import HLSPlaylist
import MediaTiming
import PlaybackReporting

extension PlaybackEngine {
    /// What the streams beside the main one are fetched from, as the selection and the variant have it.
    ///
    /// - Parameter atOnce: Whether sound that comes with the pictures takes the place of what is buffered, as somebody
    ///   asked for it; else it follows where that ends.
    func applyRenditions(atOnce: Bool = false) {
        for kind in [StreamKind.audio, .subtitles] {
            let type: Rendition.MediaType = kind == .audio ? .audio : .subtitles
            let wanted = renditionSource(selection[type])
            guard streams[kind].source != wanted else {
                if kind == .audio { endOfSound = nil }
                continue
            }
            if kind == .audio {
                if wanted == nil, !atOnce, let end = endOfSound ?? endOfPictures {
                    // Up to where the pictures come without, sound is fetched apart.
                    endOfSound = end
                    changes.notify()
                    continue
                }
                if wanted == nil, !atOnce, let target = pendingSeek?.target, fetchedVariant?.isAudioOnly == false {
                    outdatePicturesWithoutSound(from: target)
                }
                endOfSound = nil
            }
            streams[kind].source = wanted
            streams[kind].job?.isObsolete = true
            streams[kind].pausedUntil = nil
        }
    }

    /// What was fetched without sound, which will not come apart any more, comes again with it.
    func outdatePicturesWithoutSound(from time: MediaTime) {
        let sound = withSoundOfPictures(streams[.audio].buffer.current, from: soundOfPicturesStart)
        streams[.main].buffer.becomeOutdated(from: SegmentScheduler.loadedEnd(from: time, in: sound))
    }

    /// From here on the sound comes with the pictures.
    func leaveSoundToPictures() {
        endOfSound = nil
        streams[.audio].source = nil
        streams[.audio].job?.isObsolete = true
        streams[.audio].pausedUntil = nil
        updateTracks()
        changes.notify()
    }

    /// Where the pictures end that are buffered without sound, where sound is not buffered as far; `nil` where it is.
    private var endOfPictures: MediaTime? {
        guard isPositioned, pendingSeek == nil, !isScanning, !isBackward, selection[.audio] != nil,
            streams[.audio].source != nil, streams[.audio].doom == nil
        else { return nil }
        let last = streams[.main].buffer.entries.last { $0.type == .video && !$0.isLeftOut }
        guard let end = last?.range.end else { return nil }
        let ranges = withSoundOfPictures(streams[.audio].buffer.current, from: soundOfPicturesStart)
        return SegmentScheduler.loadedEnd(from: position, in: ranges) < end - SegmentScheduler.seam ? end : nil
    }

    /// Sound that is buffered apart, and that of the main stream from a time on; `nil` for none of it.
    func withSoundOfPictures(_ ranges: MediaTimeRangeSet, from start: MediaTime?) -> MediaTimeRangeSet {
        guard let start else { return ranges }
        var ranges = ranges
        for entry in streams[.main].buffer.entries
        where entry.type != .video && !entry.isLeftOut && entry.range.end > start {
            let range = MediaTimeRange(start: max(start, entry.range.start), end: entry.range.end)
            ranges.insert(StreamBuffer.joined(range, to: ranges))
        }
        // What follows it may begin a little later than it ends, too.
        for (range, next) in zip(ranges.ranges, ranges.ranges.dropFirst())
        where next.start - range.end <= SegmentScheduler.seam {
            ranges.insert(MediaTimeRange(start: range.end, end: next.start))
        }
        return ranges
    }

    func renditionSource(_ option: MediaSelectionOption?) -> StreamSource? {
        guard let option, let main = streams[.main].source, let variant = fetchedVariant else { return nil }
        // Of sound alone, the variant itself is the sound.
        guard !variant.isAudioOnly || option.type != .audio else { return nil }
        let index: Int
        if case .variant(_, let location) = main.identity { index = location } else { index = 0 }
        let location = variant.locations.indices.contains(index) ? variant.locations[index] : variant.location
        guard let encoding = location.encoding(of: option), let address = encoding.address else { return nil }
        let source = StreamSource(identity: .option(option.id), address: address)
        guard isExcluded(source) else { return source }
        return encodings(of: option).first { !isExcluded($0) } ?? source
    }

    /// All places where an option can be had, in any quality; those of the variant first.
    private func encodings(of option: MediaSelectionOption) -> [StreamSource] {
        guard let variant = fetchedVariant, let presentation else { return [] }
        let known = Dictionary(option.encodings.map { ($0.groupID, $0.address) }) { first, _ in first }
        let addresses = ([variant] + presentation.variants).flatMap(\.locations).compactMap { location in
            location.groupIDs[option.type].flatMap { known[$0] ?? nil }
        }
        return addresses.map { StreamSource(identity: .option(option.id), address: $0) }
    }

    /// Whether what a stream carries can be had elsewhere.
    func hasOtherRendition(_ kind: StreamKind, besides failed: StreamSource) -> Bool {
        guard let option = selection[kind == .audio ? .audio : .subtitles] else { return false }
        return encodings(of: option).contains { $0 != failed && !isExcluded($0) }
    }

    /// Fetches sound or text from another playlist that has the same.
    ///
    /// - Returns: Whether there is one.
    func useOtherRendition(_ kind: StreamKind, besides failed: StreamSource) -> Bool {
        excluded[failed] = time.now + Self.exclusionDuration
        applyRenditions()
        guard let source = streams[kind].source, source != failed, !isExcluded(source) else { return false }
        changes.notify()
        return true
    }

    /// Whether a variant is pictures alone, with sound from playlists of its own.
    func hasSoundApart(_ variant: Presentation.Variant) -> Bool {
        guard !variant.isAudioOnly, let group = presentation?.group(.audio) else { return false }
        let encodings = group.options.compactMap { variant.location.encoding(of: $0) }
        return !encodings.isEmpty && encodings.allSatisfy { $0.address != nil }
    }

    /// What the pieces of a stream carry.
    func mediaType(of kind: StreamKind) -> MediaType {
        switch kind {
        case .audio: .audio
        case .subtitles: .subtitles
        case .main where isScanning: .video
        case .main:
            if fetchedVariant?.isAudioOnly == true {
                .audio
            } else {
                streams[.audio].source == nil || endOfSound != nil ? .muxed : .video
            }
        }
    }
}
