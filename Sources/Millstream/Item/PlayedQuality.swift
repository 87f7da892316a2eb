package import HLSPlaylist
package import MediaTiming

/// The size and the bit rate of the media at the playhead, for display.
package struct PlayedQuality: Sendable, Hashable {
    /// The size of the video; `nil` if it is unknown, or if there is no video.
    package let size: Resolution?
    /// The bit rate; `nil` if it is unknown.
    package let bitRate: BitRate?
    /// A Boolean value that indicates whether the bit rate is the average of the buffered media, because the playlist
    /// declares none.
    package let isMeasured: Bool

    /// Creates the quality of the media that an item plays.
    package init(_ item: PlayerItem.State) {
        size = item.presentationSize
        let declared = item.playedVariant?.peakBitRate
        isMeasured = (declared?.bitsPerSecond ?? 0) <= 0
        bitRate = isMeasured ? item.playback.bufferedBitRate : declared
    }

    /// The bit rate as text, such as `1.2 Mbit/s measured`; `nil` if it is unknown.
    package var bitRateText: String? { bitRate.map { isMeasured ? "\($0) measured" : "\($0)" } }

    /// The known parts as text, such as `640x360` and `1.2 Mbit/s measured`.
    package var parts: [String] {
        [size?.description, bitRateText].compactMap { $0 }
    }
}

extension PlayerItem.State {
    /// A Boolean value that indicates whether the media has audio and no video.
    package var isAudioOnly: Bool {
        playback.videoSize == nil && playback.tracks.contains { $0.mediaType == .audio }
            && !playback.tracks.contains { $0.mediaType == .video || $0.mediaType == .muxed }
    }
}
