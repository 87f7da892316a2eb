import HLSPlaylist
import PlaybackReporting

/// The tracks of a file, the caption channel and the audio settings that were last sent to the pipeline.
struct OutputSettings: Sendable {
    private var tracks: [MediaType: FileTrack] = [:]
    private var captions: String?
    private var audio: AudioSettings?

    /// Returns the commands for settings that have changed.
    mutating func changes(_ options: StreamingOptions, _ selection: MediaSelection) -> [PipelineCommand] {
        var commands: [PipelineCommand] = []
        for (type, mediaType) in [(Rendition.MediaType.audio, MediaType.audio), (.subtitles, .subtitles)] {
            let track = selection[type]?.fileTrack
            guard track != tracks[mediaType] else { continue }
            tracks[mediaType] = track
            commands.append(.selectTrack(mediaType, track))
        }
        let channel = selection[.closedCaptions]?.id.instreamID
        if channel != captions {
            captions = channel
            commands.append(.selectCaptions(channel))
        }
        if options.audioSettings != audio {
            audio = options.audioSettings
            commands.append(.setAudioSettings(options.audioSettings))
        }
        return commands
    }
}
