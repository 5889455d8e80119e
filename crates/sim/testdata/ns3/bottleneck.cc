// One bulk TCP flow over a point-to-point link with a drop-tail queue, measured in ns-3.
//
// Prints one line of comma-separated values (names with --header) and, with --episodes, one line per loss episode.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>

using namespace ns3;

namespace
{

constexpr double kSegment = 1448; // payload of an IP packet of 1,500 bytes: 20 IPv4, 20 TCP, 12 timestamps

struct Episode
{
    Time began;
    Time ended;
    uint32_t windowBefore;
    uint32_t threshold;
    uint32_t windowAfter;
};

// Everything seen between the end of the warm-up and the end of the run.
class Meter
{
  public:
    Meter(Time warmUp, const std::string& trace)
        : m_warmUp(warmUp)
    {
        if (!trace.empty())
        {
            m_trace.open(trace);
            m_trace << "time_s,window_segments\n";
        }
    }

    void WatchSender(Ptr<Socket> socket)
    {
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Meter::Window, this));
        socket->TraceConnectWithoutContext("SlowStartThreshold", MakeCallback(&Meter::Threshold, this));
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Meter::State, this));
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Meter::Sent, this));
    }

    void WatchQueue(Ptr<Queue<Packet>> queue)
    {
        queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Meter::Enqueued, this));
        queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Meter::Dequeued, this));
        queue->TraceConnectWithoutContext("Drop", MakeCallback(&Meter::Dropped, this));
    }

    void WatchReceiver(Ptr<Application> sink)
    {
        sink->TraceConnectWithoutContext("Rx", MakeCallback(&Meter::Received, this));
    }

    uint64_t m_received = 0;
    uint64_t m_segments = 0;
    uint64_t m_retransmitted = 0;
    uint64_t m_dropped = 0;
    uint64_t m_timeouts = 0;
    uint64_t m_waits = 0;
    double m_waited = 0;
    std::vector<Episode> m_episodes;

  private:
    bool Counts() const
    {
        return Simulator::Now() >= m_warmUp;
    }

    void Window(uint32_t, uint32_t window)
    {
        m_window = window;
        if (m_trace.is_open())
        {
            m_trace << std::fixed << std::setprecision(6) << Simulator::Now().GetSeconds() << ','
                    << window / kSegment << '\n';
        }
    }

    void Threshold(uint32_t, uint32_t threshold)
    {
        m_threshold = threshold;
    }

    void State(TcpSocketState::TcpCongState_t from, TcpSocketState::TcpCongState_t to)
    {
        if (!Counts())
        {
            return;
        }
        if (to == TcpSocketState::CA_LOSS)
        {
            ++m_timeouts;
        }
        if (to == TcpSocketState::CA_RECOVERY)
        {
            m_recovering = true;
            m_episodes.push_back({Simulator::Now(), Time(0), m_window, 0, 0});
        }
        else if (m_recovering && from == TcpSocketState::CA_RECOVERY)
        {
            m_recovering = false;
            m_episodes.back().ended = Simulator::Now();
            m_episodes.back().threshold = m_threshold;
            m_episodes.back().windowAfter = m_window;
        }
    }

    void Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        const auto sequence = header.GetSequenceNumber();
        const bool again = m_any && sequence < m_next;
        if (!again)
        {
            m_next = sequence + packet->GetSize();
            m_any = true;
        }
        m_segments += Counts();
        m_retransmitted += Counts() && again;
    }

    void Enqueued(Ptr<const Packet>)
    {
        m_queue.push_back(Simulator::Now());
    }

    void Dequeued(Ptr<const Packet>)
    {
        const Time since = m_queue.front();
        m_queue.pop_front();
        if (Counts())
        {
            ++m_waits;
            m_waited += (Simulator::Now() - since).GetSeconds();
        }
    }

    void Dropped(Ptr<const Packet>)
    {
        m_dropped += Counts();
    }

    void Received(Ptr<const Packet> packet, const Address&)
    {
        m_received += Counts() ? packet->GetSize() : 0;
    }

    Time m_warmUp;
    std::ofstream m_trace;
    uint32_t m_window = 0;
    uint32_t m_threshold = 0;
    bool m_recovering = false;
    bool m_any = false;
    SequenceNumber32 m_next;
    std::deque<Time> m_queue;
};

void
Watch(Meter* meter, Ptr<BulkSendApplication> source)
{
    meter->WatchSender(source->GetSocket());
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string algorithm = "TcpLinuxReno";
    std::string recovery = "TcpPrrRecovery";
    std::string episodesFile;
    std::string traceFile;
    uint32_t queuePackets = 150;
    uint32_t delayedAcks = 2;
    bool hystart = false;
    bool fastConvergence = true;
    bool timestamps = true;
    bool header = false;
    double seconds = 620;
    double warmUp = 20;
    double startOffset = 0;
    CommandLine cmd;
    cmd.AddValue("algorithm", "TypeId of the congestion control, without ns3::", algorithm);
    cmd.AddValue("recovery", "TypeId of the recovery, without ns3::", recovery);
    cmd.AddValue("queue", "limit of the drop-tail queue in packets", queuePackets);
    cmd.AddValue("delayedAcks", "segments per acknowledgement", delayedAcks);
    cmd.AddValue("hystart", "whether TcpCubic leaves slow start by HyStart", hystart);
    cmd.AddValue("fastConvergence", "whether TcpCubic converges fast", fastConvergence);
    cmd.AddValue("timestamps", "whether segments carry timestamps", timestamps);
    cmd.AddValue("seconds", "when the run ends", seconds);
    cmd.AddValue("warmUp", "when measuring begins", warmUp);
    cmd.AddValue("offset", "when the flow starts, in seconds", startOffset);
    cmd.AddValue("episodes", "file for a line per loss episode", episodesFile);
    cmd.AddValue("trace", "file for every change of the window", traceFile);
    cmd.AddValue("header", "print the names of the columns and end", header);
    cmd.Parse(argc, argv);

    if (header)
    {
        std::puts("algorithm,delayed_acks,queue_packets,hystart,fast_convergence,timestamps,start_offset_s,warm_up_s,end_s,goodput_bps,"
                  "loss_episodes,timeouts,segments,retransmitted_segments,dropped_packets,mean_queueing_delay_ms");
        return 0;
    }

    const uint32_t buffer = 64 << 20;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + algorithm)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::" + recovery)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delayedAcks));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(timestamps));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpHybla::RRTT", TimeValue(MilliSeconds(25)));
    Config::SetDefault("ns3::TcpWestwood::ProtocolType", EnumValue(TcpWestwood::WESTWOODPLUS));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(hystart));
    Config::SetDefault("ns3::TcpCubic::FastConvergence", BooleanValue(fastConvergence));

    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(45'000'000)));
    link.SetChannelAttribute("Delay", TimeValue(MilliSeconds(20)));
    link.SetQueue("ns3::DropTailQueue<Packet>",
                  "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queuePackets)));
    // Nothing above the device may hold packets back: without flow control, none of the default queue disciplines (FqCoDel)
    // is installed when addresses are assigned.
    link.DisableFlowControl();
    const NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    for (uint32_t i = 0; i < 2; ++i)
    {
        const auto control = nodes.Get(i)->GetObject<TrafficControlLayer>();
        NS_ABORT_IF(control->GetRootQueueDiscOnDevice(devices.Get(i)));
    }

    const uint16_t port = 9;
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
    bulk.SetAttribute("SendSize", UintegerValue(64 * 1024));
    ApplicationContainer sources = bulk.Install(nodes.Get(0));
    sources.Start(Seconds(startOffset));
    PacketSinkHelper sinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer sinks = sinkHelper.Install(nodes.Get(1));
    sinks.Start(Seconds(0));

    Meter meter(Seconds(warmUp), traceFile);
    meter.WatchQueue(DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue());
    meter.WatchReceiver(sinks.Get(0));
    Simulator::Schedule(Seconds(startOffset) + MilliSeconds(1),
                        &Watch,
                        &meter,
                        DynamicCast<BulkSendApplication>(sources.Get(0)));

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    const bool cubic = algorithm == "TcpCubic";
    std::printf("%s,%u,%u,%s,%s,%s,%g,%g,%g,%.0f,%zu,%lu,%lu,%lu,%lu,%.4f\n",
                algorithm.c_str(),
                delayedAcks,
                queuePackets,
                cubic ? (hystart ? "true" : "false") : "",
                cubic ? (fastConvergence ? "true" : "false") : "",
                timestamps ? "true" : "false",
                startOffset,
                warmUp,
                seconds,
                meter.m_received * 8 / (seconds - warmUp),
                meter.m_episodes.size(),
                meter.m_timeouts,
                meter.m_segments,
                meter.m_retransmitted,
                meter.m_dropped,
                1e3 * meter.m_waited / meter.m_waits);
    if (!episodesFile.empty())
    {
        std::ofstream file(episodesFile);
        file << "began_s,ended_s,window_before,threshold,window_after\n" << std::fixed << std::setprecision(6);
        for (const Episode& episode : meter.m_episodes)
        {
            file << episode.began.GetSeconds() << ',' << episode.ended.GetSeconds() << ','
                 << std::setprecision(2) << episode.windowBefore / kSegment << ',' << episode.threshold / kSegment << ','
                 << episode.windowAfter / kSegment << std::setprecision(6) << '\n';
        }
    }
    Simulator::Destroy();
    return 0;
}
