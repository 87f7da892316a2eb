import HLSPlaylist
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct PlayerItemTests {
    @Test func itemHasNoStateBeforeItIsInAPlayer() async throws {
        try await simulated { world in
            let item = world.item("a")
            #expect(item.status == .unknown)
            #expect(item.duration == nil)
            #expect(item.loadedTimeRanges.isEmpty)
            #expect(item.seekableTimeRanges.isEmpty)
            #expect(item.isPlaybackBufferEmpty)
            #expect(item.accessLog.events.isEmpty)
            #expect(item.playbackMetrics == nil)
            try await world.sleep(.seconds(10))
            #expect(item.status == .unknown)
            #expect(world.engineCount == 0)
        }
    }

    @Test func sequencesCreatedBeforePlaybackReceiveAllElements() async throws {
        try await simulated { world in
            let item = world.item("a")
            let (events, statuses) = (item.events, item.values(of: \.status))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(3))
            // No element has been read so far.
            var iterator = statuses.makeAsyncIterator()
            #expect(await iterator.next() == .readyToPlay)
            var reader = events.makeAsyncIterator()
            guard case .playback(let first) = await reader.next() else {
                Issue.record("the first event is one of playback")
                return
            }
            #expect(first.kind == .statusChanged(.readyToPlay))
            #expect(player.status == .readyToPlay)
        }
    }

    @Test func propertySequencesYieldTheCurrentValueAndThenChanges() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            let statuses = Collected<PlayerItem.Status>()
            let durations = try await listening(to: item.values(of: \.duration)) { _ in
                for status in try await listening(
                    to: item.values(of: \.status),
                    { _ in
                        player.play()
                        try await world.sleep(.seconds(5))
                    }
                ) { statuses.add(status) }
            }
            #expect(statuses.all == [.unknown, .readyToPlay])
            #expect(durations == [nil, MediaTime(seconds: 10)])
        }
    }

    @Test func loadedTimeRangesGrow() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            let loaded = try await listening(to: item.values(of: \.loadedTimeRanges)) { _ in
                try await world.sleep(.seconds(5))
            }
            #expect(loaded.map(\.totalDuration.seconds) == [0, 4, 10])
            #expect(item.seekableTimeRanges.totalDuration == MediaTime(seconds: 10))
            #expect(item.isPlaybackLikelyToKeepUp)
            #expect(!item.isPlaybackBufferEmpty)
            #expect(player.rate == 0)
        }
    }

    @Test func liveItemHasNoDuration() async throws {
        try await simulated { world in
            let item = world.item("live", Script(duration: nil))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            #expect(player.status == .readyToPlay)
            #expect(item.duration == nil)
            #expect(item.playbackType == .live)
        }
    }

    @Test func preferencesReachTheEngineBeforeAndDuringPlayback() async throws {
        try await simulated { world in
            let item = world.item("a")
            item.preferredPeakBitRate = BitRate(bitsPerSecond: 900_000)
            item.preferredMaximumResolution = Resolution(width: 640, height: 360)
            item.preferredForwardBufferDuration = .seconds(12)
            item.forwardPlaybackEndTime = MediaTime(seconds: 8)
            item.configuredTimeOffsetFromLive = MediaTime(seconds: 6)
            item.automaticallyPreservesTimeOffsetFromLive = true
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let options = try #require(world.engine(0)?.request.options)
            #expect(options.preferredPeakBitRate?.bitsPerSecond == 900_000)
            #expect(options.preferredMaximumResolution?.height == 360)
            #expect(options.preferredForwardBufferDuration == .seconds(12))
            #expect(options.forwardPlaybackEndTime == MediaTime(seconds: 8))
            #expect(options.timeOffsetFromLive == MediaTime(seconds: 6))
            #expect(options.preservesTimeOffsetFromLive)
            item.preferredPeakBitRate = BitRate(bitsPerSecond: 300_000)
            #expect(item.preferredPeakBitRate?.bitsPerSecond == 300_000)
            try await world.sleep(.seconds(1))
            #expect(world.engine(0)?.log == ["2: update 300 kbit/s"])
            #expect(player.rate == 0)
        }
    }

    @Test func mediaOptionsAreSelectedExplicitlyAndAutomatically() async throws {
        try await simulated { world in
            let item = world.item("film", Script(presentation: .film))
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let audio = try #require(item.mediaSelectionGroup(for: .audible))
            let text = try #require(item.mediaSelectionGroup(for: .legible))
            #expect(item.mediaSelectionGroup(for: .visual) == nil)
            let notifications = try await listening(to: item.notifications) { _ in
                item.select(audio.options[1], in: audio)
                #expect(item.currentMediaSelection[.audio]?.name == "Deutsch")
                item.select(nil, in: audio)
                item.select(text.options[0], in: text)
                item.select(nil, in: text)
                #expect(item.currentMediaSelection[.subtitles] == nil)
                // An option of another group is ignored.
                item.select(text.options[0], in: audio)
                item.selectMediaOptionAutomatically(in: audio)
                try await world.sleep(.seconds(1))
            }
            #expect(
                world.engine(0)?.log == [
                    "2: select Deutsch AUDIO", "2: select Untertitel SUBTITLES", "2: select nothing SUBTITLES",
                    "2: select English AUDIO",
                ]
            )
            #expect(notifications.filter { $0 == .mediaSelectionDidChange }.count == 4)
            #expect(player.rate == 0)
        }
    }

    @Test func trackIsDisabledAndEnabledDuringPlayback() async throws {
        try await simulated { world in
            let item = world.item("film", Script(presentation: .film))
            let player = try Player(playerItem: item)
            player.play()
            try await world.sleep(.seconds(2))
            let audio = try #require(item.mediaSelectionGroup(for: .audible))
            let engine = try #require(world.engine(0))
            await engine.updateSnapshot { playback in
                playback.tracks = [PlaybackTrack(id: 1, mediaType: .video), PlaybackTrack(id: 2, mediaType: .audio)]
                playback.selection[.audio] = audio.options[1]
            }
            let tracks = item.tracks
            #expect(tracks.map(\.isEnabled) == [true, true])
            #expect(tracks.map(\.canBeDisabled) == [false, true])
            #expect(!item.setEnabled(false, tracks[0]))
            #expect(item.setEnabled(false, tracks[1]))
            #expect(item.tracks.map(\.isEnabled) == [true, false])
            #expect(item.currentMediaSelection[.audio] == nil)
            await engine.updateSnapshot { $0.tracks.removeLast() }
            #expect(item.tracks.map(\.isEnabled) == [true, false])
            #expect(item.setEnabled(true, item.tracks[1]))
            try await world.sleep(.seconds(1))
            #expect(engine.log == ["0: rate 1.0", "2: select nothing AUDIO", "2: select Deutsch AUDIO"])
            #expect(player.timeControlStatus == .playing)
        }
    }

    @Test func changedRulesApplyOnlyToAutomaticSelections() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            await world.wait(for: item.states) { $0.status == .readyToPlay }
            #expect(item.currentMediaSelection[.audio]?.language == "en")
            item.mediaSelectionRules.audioLanguages = ["ko"]
            await world.wait(for: item.states) { $0.playback.selection[.audio]?.language == "ko" }
            // An explicit selection is not changed by other rules.
            let group = try #require(item.mediaSelectionGroup(for: .audible))
            item.select(group.options.first { $0.language == "ko" }, in: group)
            item.mediaSelectionRules.audioLanguages = ["en"]
            try await world.simulation.sleep(for: .seconds(5))
            #expect(item.currentMediaSelection[.audio]?.language == "ko")
            _ = player
        }
    }

    @Test func playbackStartIsPostedAsANotice() async throws {
        try await PlayedOrigin(PlayedOrigin.film(count: 2)).run { world in
            let item = world.item()
            let player = try Player(playerItem: item)
            player.play()
            let notifications = try await listening(to: item.notifications) { _ in
                await world.wait(for: item.states) { $0.hasPlayedToEnd }
            }
            let notices = notifications.compactMap { notification -> String? in
                if case .playbackNotice(let notice) = notification { "\(notice)" } else { nil }
            }
            #expect(notices == ["Playback started in 0.00 seconds"])
        }
    }

    @Test func everyNotificationOfAVFoundationIsPosted() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            let record = PlaybackErrorRecord(statusCode: 404, domain: "HTTP", comment: "gone", didRecover: true)
            let notifications = try await listening(to: item.notifications) { _ in
                player.play()
                try await world.sleep(.seconds(1))
                await engine.emit(.stalled)
                await engine.emit(.timeJumped(from: nil, to: MediaTime(seconds: 5)))
                await engine.emit(.error(record))
                await engine.updateSnapshot { $0.recommendedTimeOffsetFromLive = MediaTime(seconds: 18) }
                await engine.emit(.failedToPlayToEnd(record))
                try await world.sleep(.seconds(10))
            }
            let names = notifications.map { String(String(describing: $0).prefix { $0 != "(" }) }
            #expect(
                Set(names) == [
                    "playbackStalled", "timeJumped", "newErrorLogEntry", "failedToPlayToEnd",
                    "recommendedTimeOffsetFromLiveDidChange", "didPlayToEnd", "newAccessLogEntry", "playbackNotice",
                ]
            )
            #expect(item.errorLog.events.map(\.errorStatusCode).first == 404)
            #expect(item.accessLog.events.first?.playbackSessionID == "session 0")
        }
    }

    @Test func metricsIncludeTheTimeUpToNow() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            player.play()
            try await world.sleep(.seconds(5))
            #expect(item.playbackMetrics?.startupTime == .seconds(1))
            #expect(item.playbackMetrics?.watchedDuration == .seconds(4))
            #expect(item.accessLog.totals.durationWatched == .seconds(4))
            #expect(item.playbackSummary?.playbackDuration == .seconds(4))
            // A second session continues the log.
            try player.replaceCurrentItem(with: nil)
            try await world.sleep(.seconds(1))
            try player.replaceCurrentItem(with: item)
            try await world.sleep(.seconds(3))
            #expect(item.accessLog.totals.durationWatched == .seconds(6))
            #expect(item.playbackMetrics?.watchedDuration == .seconds(2))
            #expect(player.rate == 1)
        }
    }

    @Test func metricEventsCorrespondToThoseOfAVMetrics() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            let measurements = try await listening(to: item.metrics) { _ in
                player.play()
                try await world.sleep(.seconds(12))
                try player.replaceCurrentItem(with: nil)
                try await world.sleep(.seconds(1))
            }
            guard case .rateChange(let change) = measurements.first?.kind else {
                Issue.record("playing begins with a change of the rate")
                return
            }
            #expect(change.rate == 1)
            #expect(measurements.first?.date == .seconds(1_000_001))
            guard case .playbackSummary(let summary) = measurements.last?.kind else {
                Issue.record("a session ends with a summary")
                return
            }
            #expect(summary.playbackDuration == .seconds(10))
        }
    }

    @Test func metricEventsOfSeveralItemsAreMergedChronologically() async throws {
        try await simulated { world in
            let items = [world.item("a"), world.item("b")]
            let players = try items.map { try Player(playerItem: $0) }
            let both = items[0].metrics.chronologicalMerge(with: items[1].metrics)
            let measurements = try await listening(to: both) { _ in
                players[1].play()
                try await world.sleep(.seconds(2))
                players[0].play()
                try await world.sleep(.seconds(4))
                players[1].pause()
                for player in players { try player.replaceCurrentItem(with: nil) }
                try await world.sleep(.seconds(1))
            }
            let dates = measurements.map(\.date)
            #expect(dates == dates.sorted() && dates.count > 4)
            let rates = measurements.compactMap { measurement -> Double? in
                if case .rateChange(let change) = measurement.kind { change.rate } else { nil }
            }
            #expect(rates.prefix(2) == [1, 1] && rates.contains(0))
            #expect(measurements.count { if case .playbackSummary = $0.kind { true } else { false } } == 2)
        }
    }

    @Test func currentDateAdvancesWithThePlayhead() async throws {
        try await simulated { world in
            let item = world.item("live", Script(duration: nil))
            let player = try Player(playerItem: item)
            player.play()
            try await world.sleep(.seconds(2))
            #expect(item.currentDate() == nil)
            await world.engine(0)?.updateSnapshot {
                $0.programDate = ProgramDateTime(sinceEpoch: MediaTime(seconds: 500))
            }
            try await world.sleep(.seconds(3))
            #expect(item.currentDate()?.sinceEpoch == MediaTime(seconds: 503))
        }
    }

    @Test(.timeLimit(.minutes(10))) func unreadEventsAreDroppedAndCounted() async throws {
        try await simulated { world in
            let item = world.item("a")
            let player = try Player(playerItem: item)
            try await world.sleep(.seconds(2))
            let engine = try #require(world.engine(0))
            let notifications = item.notifications
            await engine.emit(.stalled)
            let events = item.events
            for number in 0..<3_000 {
                await engine.emit(.seekStarted(to: MediaTime(seconds: Int64(number))))
            }
            var iterator = events.makeAsyncIterator()
            guard case .dropped(let count) = await iterator.next() else {
                Issue.record("the first thing said is what was lost")
                return
            }
            guard case .playback(let event) = await iterator.next() else {
                Issue.record("an event of playback follows")
                return
            }
            #expect(event.kind == .seekStarted(to: MediaTime(seconds: Int64(count))))
            #expect(count > 1_900 && count < 2_400)
            // Events that are not notifications displace none.
            #expect(await notifications.first { _ in true } == .playbackStalled)
            #expect(player.rate == 0)
        }
    }

    @Test func eachEventSequenceReceivesAllEvents() async throws {
        try await simulated { world in
            let item = world.item("a")
            let other = Collected<PlayerItem.Event>()
            let player = Player(environment: world.environment)
            let events = try await listening(to: item.events) { _ in
                for event in try await listening(
                    to: item.events,
                    { _ in
                        try player.replaceCurrentItem(with: item)
                        player.play()
                        try await world.sleep(.seconds(20))
                    }
                ) { other.add(event) }
            }
            #expect(events.count > 4)
            #expect(events == other.all)
        }
    }
}
