import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

// The selection of audio, video and subtitles, and the renditions that follow from it.
extension FetchPlan {
    /// Selects an option, which is played as soon as it is loaded.
    mutating func select(
        _ option: MediaSelectionOption?,
        for type: Rendition.MediaType,
        _ moment: PlaybackMoment,
        _ sink: inout EffectSink
    ) {
        guard let presentation = catalog.presentation else { return }
        if let option, presentation.group(type)?.option(option.id) == nil { return }
        guard catalog.selection[type] != option else { return }
        catalog.selection[type] = option
        catalog.chooser.select(catalog.selection)
        switchForSelection(cause: "selection", moment, &sink)
        // The segments of a file have all of its tracks.
        if type == .audio, option?.fileTrack == nil { outdateAudio(moment) }
        if type == .video { changeVideo(moment, &sink) }
        applyRenditions(atOnce: true, moment, &sink)
        let kind: TrackKind? = type == .audio ? .audio : type == .subtitles ? .subtitles : nil
        if let kind {
            tracks[kind].failures.reset()
            if kind == .audio {
                // The former option is played until the new one is loaded, from the playhead on.
                tracks.audio.buffer.markOutdated(from: moment.position)
            } else {
                // Cues of two options would be displayed above each other.
                tracks.subtitles.buffer.discardAll()
                sink.command(.discard([.allSubtitles]))
            }
        }
        let mediaType: MediaType = type == .audio ? .audio : type == .video ? .video : .subtitles
        sink.report(
            .selectionChanged(SelectionChange(mediaType: mediaType, option: option?.name, isExplicit: true))
        )
        updateTracks(&sink)
        sink.noteChange()
    }

    /// Switches to another variant if the fetched one does not have the selected options.
    private mutating func switchForSelection(cause: String, _ moment: PlaybackMoment, _ sink: inout EffectSink) {
        guard !tracks.trickPlay.isActive, let variant = fetchedVariant,
            !catalog.selectableVariants.contains(where: { $0.id == variant.id }),
            let other = catalog.chooser.nearest(to: variant)
        else { return }
        tracks.main.source = source(for: other, moment)
        tracks.main.buffer.markOutdated(from: moment.position)
        tracks.main.abandonTransfer()
        beginSwitch(to: other, cause: cause, moment, &sink)
    }

    /// Replaces the fetched playlist if it is not that of the selected video option, for example of a camera angle.
    ///
    /// The buffered media is replaced from the playhead on.
    private mutating func changeVideo(_ moment: PlaybackMoment, _ sink: inout EffectSink) {
        guard !tracks.trickPlay.isActive, let variant = fetchedVariant, let current = tracks.main.source,
            !catalog.sources(of: variant).contains(current)
        else { return }
        tracks.main.change(to: source(for: variant, moment))
        tracks.main.isVariantDecided = false
        tracks.main.failures.reset()
        tracks.main.buffer.markOutdated(from: moment.position)
    }

    /// Marks the media of the main track as outdated, if its audio is not the selected option.
    private mutating func outdateAudio(_ moment: PlaybackMoment) {
        // The audio that is muxed with the buffered video is not the selected option.
        tracks.muxedAudioStart = tracks.main.buffer.entries.last?.range.end ?? moment.position
        tracks.separateAudioEnd = nil
        guard let variant = fetchedVariant else { return }
        if variant.isAudioOnly {
            let source = source(for: variant, moment)
            guard !tracks.trickPlay.isActive, tracks.main.source != source else { return }
            tracks.main.source = source
            tracks.main.buffer.markOutdated(from: moment.position)
            tracks.main.abandonTransfer()
        } else if tracks.audio.source != nil, let option = catalog.selection[.audio],
            catalog.renditionSource(option, with: tracks.main.source, at: moment.now) == nil
        {
            // Video that was appended without its muxed audio is fetched again with it.
            tracks.main.buffer.markOutdated(from: moment.position)
            tracks.muxedAudioStart = moment.position
        }
    }

    // MARK: Renditions

    /// Sets the sources of audio and subtitles to those of the selected options for the fetched variant.
    ///
    /// - Parameters:
    ///   - atOnce: Whether audio that is muxed with video replaces the buffer at once, because the application selected
    ///     it; otherwise it is used after the end of the buffer.
    ///   - moment: The state of playback.
    ///   - sink: The collector of effects.
    mutating func applyRenditions(atOnce: Bool = false, _ moment: PlaybackMoment, _ sink: inout EffectSink) {
        for kind in [TrackKind.audio, .subtitles] {
            let option = catalog.selection[kind == .audio ? .audio : .subtitles]
            let wanted = catalog.renditionSource(option, with: tracks.main.source, at: moment.now)
            guard tracks[kind].source != wanted else {
                if kind == .audio { tracks.separateAudioEnd = nil }
                continue
            }
            if kind == .audio {
                if wanted == nil, !atOnce, let end = tracks.endOfSeparateAudio(moment, isAudioSelected: option != nil) {
                    // Audio is fetched separately for the buffered video that was appended without audio.
                    tracks.separateAudioEnd = end
                    sink.noteChange()
                    continue
                }
                if wanted == nil, !atOnce, let target = moment.seek?.target, fetchedVariant?.isAudioOnly == false {
                    tracks.outdateVideoWithoutAudio(from: target)
                }
                tracks.separateAudioEnd = nil
            }
            tracks[kind].change(to: wanted)
            sink.noteChange()
        }
    }

    /// Stops fetching audio separately, because it comes muxed with the video.
    mutating func useMuxedAudio(_ sink: inout EffectSink) {
        tracks.separateAudioEnd = nil
        tracks.audio.change(to: nil)
        updateTracks(&sink)
        sink.noteChange()
    }
}
